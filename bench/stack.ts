import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { everyRoute } from "../functions/parts.ts";
import type { Assembly } from "../local/template/assembly.ts";
import { openedAssembly } from "./database.ts";

export type Resources = {
  /** Each watches one metric, which is what AWS charges for. */
  alarms: number;
  /** Runs of functions that the template's schedules begin in an hour. */
  scheduledRunsPerHour: number;
  /** Queues that are polled, by whether their event source has a maximum concurrency. */
  polledQueues: { capped: number; uncapped: number };
  /**
   * Requests a second that API Gateway lets through: to all methods with the authorizer together, and of these to
   * endpoints that anyone may call; to the one that answers with files of the page, and to all others of the page;
   * to all methods of SCIM, whose function looks at tokens itself.
   */
  requestsPerSecond: { authorized: number; open: number; files: number; page: number; scim: number };
  /** The memory of the authorizer, of each endpoint, and of the function of the page. */
  endpointMegabytes: number;
  /** The largest file of the dashboard's page, which needs no credential. */
  largestPageFile: number;
};

type EventSource = { Enabled?: boolean; ScalingConfig?: object };

/** Resources of the template that cost money while idle, and limits of what a flood costs. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openedAssembly(assemblyDirectory);
  const propertiesOf = <P extends object>(type: string): P[] =>
    assembly.ofType<P>(type).map(({ properties }) => properties);
  const sources = propertiesOf<EventSource>("AWS::Lambda::EventSourceMapping");
  const polled = sources.filter(({ Enabled }) => Enabled !== false);
  const capped = polled.filter(({ ScalingConfig }) => ScalingConfig !== undefined).length;
  const alarms = propertiesOf("AWS::CloudWatch::Alarm");
  const rates = propertiesOf<{ ScheduleExpression: string }>("AWS::Scheduler::Schedule");
  const authorizer = propertiesOf<{ FunctionName: string; MemorySize: number }>("AWS::Lambda::Function").find(
    ({ FunctionName }) => FunctionName.endsWith("-authorize"),
  );
  const pageFiles = globSync("**/page/assets/*", { cwd: assemblyDirectory });
  return {
    alarms: alarms.length,
    scheduledRunsPerHour: rates.reduce((sum, { ScheduleExpression }) => sum + perHour(ScheduleExpression), 0),
    polledQueues: { capped, uncapped: polled.length - capped },
    requestsPerSecond: limitsOf(assembly),
    endpointMegabytes: authorizer?.MemorySize ?? Number.NaN,
    largestPageFile: Math.max(...pageFiles.map((file) => statSync(join(assemblyDirectory, file)).size)),
  };
};

type MethodSetting = { HttpMethod: string; ResourcePath: string; ThrottlingRateLimit: number };

type Api = { Body: { paths: Record<string, Record<string, { security?: object[] }>> } };

/** A method has its own limit, or the stage's. Those without the authorizer are the page's and SCIM's. */
const limitsOf = (assembly: Assembly): Resources["requestsPerSecond"] => {
  const [stage] = assembly.ofType<{ MethodSettings: MethodSetting[] }>("AWS::ApiGateway::Stage");
  const [usual, ...own] = stage?.properties.MethodSettings ?? [];
  const [api] = assembly.ofType<Api>("AWS::ApiGateway::RestApi");
  const methods = Object.values(api?.properties.Body.paths ?? {}).flatMap((path) => Object.values(path));
  const ofPage = methods.filter(({ security }) => security === undefined);
  const isOfPage = ({ ResourcePath }: MethodSetting): boolean => ResourcePath.startsWith("/~1app");
  const isOfScim = ({ ResourcePath }: MethodSetting): boolean => ResourcePath.startsWith("/~1scim");
  const sumOf = (some: MethodSetting[], methodCount: number): number =>
    some.reduce((sum, { ThrottlingRateLimit }) => sum + ThrottlingRateLimit, 0) +
    (methodCount - some.length) * (usual?.ThrottlingRateLimit ?? Number.NaN);
  const [ownOfPage, ownOfScim] = [own.filter(isOfPage), own.filter(isOfScim)];
  const others = own.filter((setting) => !isOfPage(setting) && !isOfScim(setting));
  // And one for any method besides.
  const methodsOfScim = ownOfScim.length + 1;
  const files = Math.max(...ownOfPage.map(({ ThrottlingRateLimit }) => ThrottlingRateLimit));
  const pathsForAnyone = everyRoute.flatMap(({ path, endpoint }) =>
    endpoint.access === "anyone" ? [path] : [],
  );
  const open = others.filter(({ ResourcePath }) =>
    pathsForAnyone.includes(ResourcePath.slice(1).replaceAll("~1", "/")),
  );
  return {
    open: sumOf(open, open.length),
    authorized: sumOf(others, methods.length - ofPage.length),
    files,
    page: sumOf(ownOfPage, ofPage.length - methodsOfScim) - files,
    scim: sumOf(ownOfScim, methodsOfScim),
  };
};

const runsPerHour: Readonly<Record<string, number>> = { minute: 60, hour: 1, day: 1 / 24 };

/** How often a rate such as `rate(5 minutes)` comes in an hour. */
const perHour = (expression: string): number => {
  const [, count = "1", unit = ""] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  return (runsPerHour[unit] ?? 0) / Number(count);
};
