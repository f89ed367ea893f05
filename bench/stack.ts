import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { readRoutes } from "../local/gateway/routes.ts";
import { openAssembly } from "../local/template/assembly.ts";

export type Resources = {
  /** Each watches one metric, which is what AWS charges for. */
  alarms: number;
  /** Whether the HIBP key is a secret. A parameter costs nothing. */
  hasSecret: boolean;
  /** Runs of functions that the template's schedules begin in an hour. */
  scheduledRunsPerHour: number;
  /** Queues that are polled, by whether their event source has a maximum concurrency. */
  polledQueues: { capped: number; uncapped: number };
  /**
   * Requests a second that API Gateway lets through: to all methods with the authorizer together, to the one that answers with files of
   * the page, and to all others of the page.
   */
  requestsPerSecond: { authorized: number; files: number; page: number };
  /** The memory of the authorizer; endpoints and the function of the page have the same. */
  authorizerMegabytes: number;
  /** The largest file of the dashboard's page, which needs no credential. */
  largestPageFile: number;
};

type EventSource = { Enabled?: boolean; ScalingConfig?: object };

/** Resources of the template that cost money while idle, and limits of what a flood costs. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const propertiesOf = <P extends object>(type: string): P[] =>
    assembly.ofType<P>(type).map(({ properties }) => properties);
  const sources = propertiesOf<EventSource>("AWS::Lambda::EventSourceMapping");
  const polled = sources.filter(({ Enabled }) => Enabled !== false);
  const capped = polled.filter(({ ScalingConfig }) => ScalingConfig !== undefined).length;
  const alarms = propertiesOf("AWS::CloudWatch::Alarm");
  const rates = propertiesOf<{ ScheduleExpression: string }>("AWS::Scheduler::Schedule");
  const [api] = assembly.ofType("AWS::ApiGateway::RestApi");
  const routes = api === undefined ? [] : readRoutes(assembly, assembly.physicalId(api.logicalId), "api").all;
  const rateOf = (isIncluded: (route: (typeof routes)[number]) => boolean): number =>
    routes.filter(isIncluded).reduce((sum, { limit }) => sum + (limit?.requestsPerSecond ?? Number.NaN), 0);
  const isOfPage = ({ authorizer }: { authorizer?: unknown }): boolean => authorizer === undefined;
  const files = Math.max(
    ...routes.filter(isOfPage).map(({ limit }) => limit?.requestsPerSecond ?? Number.NaN),
  );
  const authorizer = propertiesOf<{ FunctionName: string; MemorySize: number }>("AWS::Lambda::Function").find(
    ({ FunctionName }) => FunctionName.endsWith("-authorize"),
  );
  const pageFiles = globSync("**/page/assets/*", { cwd: assemblyDirectory });
  return {
    alarms: alarms.length,
    hasSecret: assembly.ofType("AWS::SecretsManager::Secret").length > 0,
    scheduledRunsPerHour: rates.reduce((sum, { ScheduleExpression }) => sum + perHour(ScheduleExpression), 0),
    polledQueues: { capped, uncapped: polled.length - capped },
    requestsPerSecond: {
      authorized: rateOf((route) => !isOfPage(route)),
      files,
      page: rateOf(isOfPage) - files,
    },
    authorizerMegabytes: authorizer?.MemorySize ?? Number.NaN,
    largestPageFile: Math.max(...pageFiles.map((file) => statSync(join(assemblyDirectory, file)).size)),
  };
};

const runsPerHour: Readonly<Record<string, number>> = { minute: 60, hour: 1, day: 1 / 24 };

/** How often a rate such as `rate(5 minutes)` comes in an hour. */
const perHour = (expression: string): number => {
  const [, count = "1", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  return (runsPerHour[unit] ?? 0) / Number(count);
};
