/** What tells that work behind the scenes fails, is given up, is not done at all, or is throttled. */
import { Duration } from "aws-cdk-lib";
import { ComparisonOperator, Metric, TreatMissingData } from "aws-cdk-lib/aws-cloudwatch";
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { FilterPattern, type ILogGroup, MetricFilter } from "aws-cdk-lib/aws-logs";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import { channelNotOpened, silentSchedule } from "../shared/contract/log-lines.ts";
import type { Alarms } from "./alarms.ts";

/** A function that no client waits for, with the log that tells how its runs ended. */
export type LoggedFunction = { name: string; function: IFunction; logGroup: ILogGroup };

/** Longer than two intervals of the rarest schedule, or the alarm would end between two failures of it. */
const failureMinutes = 30;

/** Lambda's own report of a run also tells of time-outs and crashes, which the function itself cannot log. */
const failedRun = `($.type = "platform.report" && $.record.status != "success")`;

/** Work that fails although the run does not. These lines have the level ERROR. */
const linesOfFailures = [silentSchedule, channelNotOpened];

/** One metric for the failed runs of all workers. It costs nothing in hours in which none fails. */
export function addFailureAlarm(scope: Construct, workers: readonly LoggedFunction[], alarms: Alarms): void {
  const metric = { metricNamespace: alarms.name, metricName: "FailedRuns" };
  for (const { name, logGroup } of workers) {
    new MetricFilter(scope, `${name}-failed-runs`, {
      logGroup,
      filterPattern: FilterPattern.literal(
        `{ ${[failedRun, ...linesOfFailures.map((line) => `$.message = "${line}"`)].join(" || ")} }`,
      ),
      ...metric,
    });
  }
  const query = alarms.saveQuery(
    "failed-runs",
    workers.map(({ logGroup }) => logGroup),
    {
      fields: ["@timestamp", "@log", "coalesce(record.status, message) as what", "schedule", "@message"],
      filterStatements: [`(type = "platform.report" and record.status != "success") or level = "ERROR"`],
      sort: "@timestamp desc",
      limit: 100,
    },
  );
  alarms.add({
    name: "failed-runs",
    isMinimal: true,
    description:
      "Scans, alerts or other work behind the scenes are late: a run of a worker failed, a " +
      `schedule does not run, or an alert channel does not open. The saved query "${query}" of ` +
      "CloudWatch Logs Insights names the function",
    metric: new Metric({
      namespace: metric.metricNamespace,
      metricName: metric.metricName,
      statistic: "Sum",
      period: Duration.minutes(failureMinutes),
    }),
  });
}

/** The one queue of dead letters of all queues and schedules. Each letter names where it comes from. */
export function addDeadLetterAlarm(deadLetters: Queue, alarms: Alarms): void {
  alarms.add({
    name: "dead-letters",
    description:
      "Work was given up: a message failed on every try, or a schedule could not reach its " +
      "function. Each message in the queue of this name says where it comes from",
    metric: deadLetters.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: "Maximum",
    }),
  });
}

/** Goes off when a function has not run for two of its intervals, for whatever reason. */
export function addSilenceAlarm(
  { name, function: silent }: LoggedFunction,
  { everyMinutes, impact }: { everyMinutes: number; impact: string },
  alarms: Alarms,
): void {
  alarms.add({
    name: `${name}-not-running`,
    isMinimal: true,
    description: `${impact}. The function ${name} has not run for ${2 * everyMinutes} minutes`,
    metric: silent.metricInvocations({ period: Duration.minutes(2 * everyMinutes) }),
    threshold: 1,
    comparisonOperator: ComparisonOperator.LESS_THAN_THRESHOLD,
    treatMissingData: TreatMissingData.BREACHING,
  });
}

/** The large first scan of a new table is throttled for a few minutes, which is as it should be. */
const throttledPeriods = 3;

export function addThrottleAlarms(table: Pick<ITable, "tableName">, alarms: Alarms): void {
  const period = Duration.minutes(5);
  alarms.add({
    name: "table-throttled",
    description:
      "Scans take longer, and the API may answer 503: DynamoDB has refused writes of table " +
      `${table.tableName} for 15 minutes`,
    metric: new Metric({
      namespace: "AWS/DynamoDB",
      metricName: "WriteThrottleEvents",
      dimensionsMap: { TableName: table.tableName },
      statistic: "Sum",
      period,
    }),
    evaluationPeriods: throttledPeriods,
  });
  alarms.add({
    name: "lambda-throttled",
    description:
      "Requests may fail and work may be late: the functions of this account and region, of " +
      "other stacks too, use up its concurrent executions",
    // Without a dimension it counts every function of the account, because all of them share one limit.
    metric: new Metric({ namespace: "AWS/Lambda", metricName: "Throttles", statistic: "Sum", period }),
  });
}
