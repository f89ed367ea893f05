/** What tells that the API fails, or refuses more than usual. */
import { Duration } from "aws-cdk-lib";
import type { SpecRestApi } from "aws-cdk-lib/aws-apigateway";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { FilterPattern, type ILogGroup, type LogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Alarms } from "./alarms.ts";
import type { Options } from "./options.ts";

const period = Duration.minutes(5);

/** One a second on average. Programs with an old key, and people who try keys, ask more often. */
const refusedRequests = 300;

/**
 * `accessLogs` has a line of JSON for each request, with its `status` as text. Of a request that got 401 it
 * does not know the address behind a trusted proxy: the authorizer logs that one itself, in `authorizerLogs`.
 */
export function addApiAlarms(
  api: SpecRestApi,
  accessLogs: LogGroup,
  authorizerLogs: ILogGroup,
  { trustedProxySecretSha256 }: Options,
  alarms: Alarms,
): void {
  const whatFailed = alarms.saveQuery("server-errors", [accessLogs], {
    filterStatements: ["status like /^5/"],
    statsStatements: ["count(*) as requests by method, resource, status, errorType"],
    sort: "requests desc",
  });
  alarms.add({
    name: "api-server-errors",
    description:
      "Clients get 500, or 503 because changes of the same rows used up their time. The saved " +
      `query "${whatFailed}" of CloudWatch Logs Insights names the endpoint`,
    metric: api.metricServerError({ period, statistic: "Sum" }),
  });

  if (!alarms.has({})) return;
  const refused =
    trustedProxySecretSha256 === undefined
      ? { logs: [accessLogs], filters: [], address: "sourceIp", path: "resource" }
      : {
          logs: [accessLogs, authorizerLogs],
          filters: ['viewerAddress != "-"'],
          address: "viewerAddress",
          path: "coalesce(resource, route) as path",
        };
  const whoWasRefused = alarms.saveQuery("refused-requests", refused.logs, {
    filterStatements: ['status in ["401", "429", 401]', ...refused.filters],
    statsStatements: [`count(*) as requests by ${refused.address}, ${refused.path}, status`],
    sort: "requests desc",
  });
  const metric = { metricNamespace: alarms.name, metricName: "RefusedRequests" };
  new MetricFilter(api, "RefusedRequests", {
    logGroup: accessLogs,
    filterPattern: FilterPattern.literal('{ $.status = "401" || $.status = "429" }'),
    ...metric,
  });
  alarms.add({
    name: "refused-requests",
    description:
      `More than ${refusedRequests} requests in five minutes came without a valid credential (401) ` +
      `or beyond a limit (429). The saved query "${whoWasRefused}" of CloudWatch Logs Insights ` +
      "names their addresses",
    metric: new Metric({
      namespace: metric.metricNamespace,
      metricName: metric.metricName,
      statistic: "Sum",
      period,
    }),
    threshold: refusedRequests,
  });
}
