/** Which alarms there are, what they look at, and how the one who is paged finds the function. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../../functions/workers.ts";
import { openLog } from "../../local/lambda/log.ts";
import type { Assembly } from "../../local/template/assembly.ts";
import { channelNotOpened, silentSchedule } from "../../shared/contract/log-lines.ts";
import { propertiesOf, synthesize } from "./stacks.ts";

type Alarm = {
  AlarmName: string;
  AlarmDescription: string;
  Namespace: string;
  MetricName: string;
  Dimensions?: { Name: string; Value: string }[];
  Metrics?: unknown;
  Period: number;
};
type MetricFilter = {
  LogGroupName: string;
  FilterPattern: string;
  MetricTransformations: {
    MetricNamespace: string;
    MetricName: string;
    MetricValue: string;
    DefaultValue?: number;
  }[];
};
type Query = { Name: string; LogGroupNames: string[]; QueryString: string };

const all = synthesize("alarms", { alarmEmail: "oncall@example.com" });
const minimal = synthesize("alarms", { alarmEmail: "oncall@example.com", alarms: "minimal" });
const { stackName } = all;
const directory = mkdtempSync(join(tmpdir(), "alarms-test-"));
afterAll(() => rmSync(directory, { recursive: true }));

const alarmNames = (assembly: Assembly): string[] =>
  propertiesOf<Alarm>(assembly, "AWS::CloudWatch::Alarm").map(({ AlarmName }) =>
    AlarmName.slice(stackName.length + 1),
  );
const alarmNamed = (name: string): Alarm => {
  const alarms = propertiesOf<Alarm>(all, "AWS::CloudWatch::Alarm");
  const found = alarms.find(({ AlarmName }) => AlarmName === `${stackName}-${name}`);
  expect(found, name).toBeDefined();
  return found as Alarm;
};
const filtersOf = ({ Namespace, MetricName }: Alarm): MetricFilter[] =>
  propertiesOf<MetricFilter>(all, "AWS::Logs::MetricFilter").filter(
    ({ MetricTransformations: [metric] }) =>
      metric?.MetricNamespace === Namespace && metric.MetricName === MetricName,
  );
/** The saved query that an alarm's description names. */
const queryOf = ({ AlarmDescription }: Alarm): Query => {
  const query = propertiesOf<Query>(all, "AWS::Logs::QueryDefinition").find(({ Name }) =>
    AlarmDescription.includes(`The saved query "${Name}"`),
  );
  expect(query, AlarmDescription).toBeDefined();
  return query as Query;
};

const valueAt = (line: object, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], line);

/** Whether a line of JSON matches a filter pattern of CloudWatch Logs: comparisons that && and || join. */
const matches = (pattern: string, line: object): boolean => {
  const holds = (comparison: string): boolean => {
    const [, path = "", operator, value] =
      /^\$\.([\w.]+) (=|!=) "([^"]*)"$/.exec(comparison.replace(/[()]/g, "").trim()) ?? [];
    expect(operator, `${comparison} is a comparison`).toBeDefined();
    const found = valueAt(line, path);
    return found !== undefined && (operator === "=" ? found === value : found !== value);
  };
  const body = /^\{ (.+) \}$/.exec(pattern)?.[1] ?? "";
  return body.split("||").some((alternative) => alternative.split("&&").every(holds));
};

const workers = [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(({ name }) => name);

test("there are seven alarms, each on one metric, or the two that nothing else tells", () => {
  expect(alarmNames(all).sort()).toEqual([
    "api-server-errors",
    "dead-letters",
    "failed-runs",
    "lambda-throttled",
    "refused-requests",
    "sweep-not-running",
    "table-throttled",
  ]);
  expect(alarmNames(minimal).sort()).toEqual(["failed-runs", "sweep-not-running"]);
  for (const { Metrics } of propertiesOf<Alarm>(all, "AWS::CloudWatch::Alarm"))
    expect(Metrics).toBeUndefined();
});

test("a metric that costs money is there for an alarm, and only when something happens", () => {
  for (const assembly of [all, minimal]) {
    const watched = propertiesOf<Alarm>(assembly, "AWS::CloudWatch::Alarm").map(
      ({ Namespace, MetricName }) => `${Namespace} ${MetricName}`,
    );
    for (const { MetricTransformations } of propertiesOf<MetricFilter>(assembly, "AWS::Logs::MetricFilter")) {
      for (const metric of MetricTransformations) {
        expect(watched).toContain(`${metric.MetricNamespace} ${metric.MetricName}`);
        expect(metric).toMatchObject({ MetricValue: "1" });
        expect(metric.DefaultValue).toBeUndefined();
      }
    }
  }
});

describe("failed-runs", () => {
  const logGroups = () => workers.map((name) => `/aws/lambda/${stackName}-${name}`).sort();

  test("looks at every function that no client waits for, and its query too", () => {
    const alarm = alarmNamed("failed-runs");
    expect(
      filtersOf(alarm)
        .map(({ LogGroupName }) => LogGroupName)
        .sort(),
    ).toEqual(logGroups());
    expect([...queryOf(alarm).LogGroupNames].sort()).toEqual(logGroups());
    expect(queryOf(alarm).QueryString).toContain("@log");
  });

  test("stays on between two failures of the rarest schedule", () => {
    const longest = Math.max(...scheduledWorkers.map(({ worker }) => worker.everyMinutes));
    expect(alarmNamed("failed-runs").Period).toBeGreaterThan(longest * 60);
  });

  test("counts failed and slow runs, silent schedules, unreadable channels", () => {
    const log = openLog(directory, "worker");
    const report = { durationMilliseconds: 5, memoryMegabytes: 256, initMilliseconds: undefined };
    log.started("a");
    log.reported("a", { ...report, status: "success" });
    log.reported("b", { ...report, status: "error" });
    log.close();
    const written = readFileSync(join(directory, "worker.log"), "utf8").trim().split("\n");
    const lines: object[] = [
      ...written.map((line) => JSON.parse(line)),
      { type: "platform.report", record: { requestId: "c", status: "timeout" } },
      { level: "ERROR", message: silentSchedule, schedule: "sync-catalog" },
      { level: "ERROR", message: channelNotOpened, channelId: 1 },
      { level: "INFO", message: "scan ended" },
    ];
    for (const { FilterPattern } of filtersOf(alarmNamed("failed-runs"))) {
      expect(lines.map((line) => matches(FilterPattern, line))).toEqual([
        false,
        false,
        true,
        true,
        true,
        true,
        false,
      ]);
    }
  });
});

describe("alarms of the API", () => {
  const accessLog = (status: number): object => {
    const [stage] = propertiesOf<{ AccessLogSetting: { Format: string } }>(all, "AWS::ApiGateway::Stage");
    return JSON.parse(
      stage?.AccessLogSetting.Format.replace("$context.status", String(status)).replaceAll(
        /\$context[\w.]+/g,
        "x",
      ) ?? "",
    );
  };

  test("count requests without a valid credential or beyond a limit", () => {
    const [filter, ...others] = filtersOf(alarmNamed("refused-requests"));
    expect(others).toEqual([]);
    expect(filter?.LogGroupName).toBe(`/aws/apigateway/${stackName}`);
    const statuses = [200, 401, 404, 429, 500];
    expect(statuses.filter((status) => matches(filter?.FilterPattern ?? "", accessLog(status)))).toEqual([
      401, 429,
    ]);
  });

  test.each(["api-server-errors", "refused-requests"])(
    "%s names a query of fields in the access log",
    (name) => {
      const { LogGroupNames, QueryString } = queryOf(alarmNamed(name));
      expect(LogGroupNames).toEqual([`/aws/apigateway/${stackName}`]);
      const [, grouped = ""] = / by ([\w, ]+)/.exec(QueryString) ?? [];
      for (const field of grouped.split(", ")) expect(Object.keys(accessLog(200))).toContain(field);
    },
  );

  test("api-server-errors goes off at the first answer of 500", () => {
    expect(alarmNamed("api-server-errors")).toMatchObject({
      Namespace: "AWS/ApiGateway",
      MetricName: "5XXError",
      Statistic: "Sum",
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
    });
  });
});

test("with an alarm address every alarm notifies it, also when the alarm is over", () => {
  expect(propertiesOf(all, "AWS::SNS::Subscription")).toMatchObject([
    { Protocol: "email", Endpoint: "oncall@example.com" },
  ]);
  const topics = all.ofType("AWS::SNS::Topic").map(({ logicalId }) => all.physicalId(logicalId));
  for (const alarm of propertiesOf<Alarm>(all, "AWS::CloudWatch::Alarm")) {
    expect(alarm).toMatchObject({ AlarmActions: topics, OKActions: topics });
  }
});

test("dead-letters goes off at any, sweep-not-running without a run in two intervals", () => {
  expect(alarmNamed("dead-letters")).toMatchObject({
    Namespace: "AWS/SQS",
    MetricName: "ApproximateNumberOfMessagesVisible",
    Dimensions: [{ Name: "QueueName", Value: `${stackName}-dead-letters` }],
    Statistic: "Maximum",
    Threshold: 0,
  });
  expect(alarmNamed("sweep-not-running")).toMatchObject({
    Namespace: "AWS/Lambda",
    MetricName: "Invocations",
    Dimensions: [{ Name: "FunctionName", Value: `${stackName}-sweep` }],
    Period: 600,
    Threshold: 1,
    ComparisonOperator: "LessThanThreshold",
    TreatMissingData: "breaching",
  });
});

test("throttling of the table rings when it lasts, that of functions at once", () => {
  expect(alarmNamed("table-throttled")).toMatchObject({
    Namespace: "AWS/DynamoDB",
    MetricName: "WriteThrottleEvents",
    Dimensions: [{ Name: "TableName", Value: all.outputs().TableName }],
    Period: 300,
    EvaluationPeriods: 3,
    Threshold: 0,
  });
  const { Dimensions = [], ...throttles } = alarmNamed("lambda-throttled");
  expect(throttles).toMatchObject({ Namespace: "AWS/Lambda", MetricName: "Throttles", Threshold: 0 });
  expect(Dimensions).toEqual([]);
});
