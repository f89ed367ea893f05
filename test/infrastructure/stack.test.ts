/**
 * Compares the synthesized template, read as CloudFormation reads it, with the contracts that it is derived
 * from.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dashboardRoutes } from "../../functions/dashboard-routes.ts";
import { routes } from "../../functions/routes.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../../functions/workers.ts";
import { type ApiDomain, readDomain } from "../../lib/api-domain.ts";
import { type Bundles, bundleFunctions, folders } from "../../lib/bundle.ts";
import { readOptions } from "../../lib/options.ts";
import { ServiceStack } from "../../lib/service-stack.ts";
import { type Assembly, openAssembly } from "../../local/template/assembly.ts";
import { retryDelaySeconds } from "../../shared/aws/queue/retry-delay.ts";
import { refusals } from "../../shared/contract/errors.ts";
import { perMinute } from "../../shared/contract/limits.ts";
import { messages } from "../../shared/contract/messages.ts";

type Properties = Record<string, never>;
type Statement = {
  Action: string | string[];
  Resource: string | string[];
  Effect: string;
  Condition?: Record<string, unknown>;
};
type Alarm = {
  AlarmName: string;
  AlarmDescription: string;
  Dimensions?: { Value: string }[];
  MetricName: string;
  Namespace: string;
  Period: number;
  AlarmActions?: string[];
  OKActions?: string[];
};

const environment = { region: "us-east-1", accountId: "000000000000" };
const directory = mkdtempSync(join(tmpdir(), "stack-test-"));
const stackName = "breach-monitor-production";
let bundles: Bundles;
let production: Assembly;
/** Has everything that can be chosen: alarms and alerts by e-mail, a name of its own, a web ACL, a trusted proxy. */
let staging: Assembly;
/** Uses an existing table. */
let restored: Assembly;
/** Costs as little as possible while idle. */
let cheapest: Assembly;

beforeAll(async () => {
  bundles = await bundleFunctions(join(directory, "bundles"));
  production = synthesize("production");
  staging = synthesize("staging", {
    alarmEmail: "oncall@example.com",
    senderEmail: "alerts@mail.example.com",
    domain: {
      name: "breaches.example.com",
      certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
    },
    context: {
      requestsPerSecond: "200",
      webAcl: "true",
      confirmRecipients: "true",
      tableEncryption: "aws-managed",
      gatewayRequestIds: false,
      trustedProxySecret: "/breach-monitor/staging/proxy-secret",
    },
  });
  restored = synthesize("restored", { tableName: "Kept.table_2-restored" });
  cheapest = synthesize("cheapest", { context: { alarms: "minimal" } });
});
afterAll(() => rmSync(directory, { recursive: true }));

function synthesize(
  stage: string,
  {
    alarmEmail,
    senderEmail,
    domain,
    tableName,
    context = {},
  }: {
    alarmEmail?: string;
    senderEmail?: string;
    domain?: ApiDomain;
    tableName?: string;
    context?: Record<string, unknown>;
  } = {},
): Assembly {
  const app = new App({ outdir: join(directory, `cdk.out-${stage}`) });
  new ServiceStack(app, `breach-monitor-${stage}`, {
    bundles,
    options: readOptions((name) => context[name]),
    alarmEmail,
    senderEmail,
    domain,
    tableName,
  });
  app.synth();
  return openAssembly(join(directory, `cdk.out-${stage}`), environment);
}

/** The resources of a template as they are written, with references unresolved. */
function templateResources(stage: string): { Type: string; DeletionPolicy?: string; Properties: object }[] {
  const file = join(directory, `cdk.out-${stage}`, `breach-monitor-${stage}.template.json`);
  return Object.values(JSON.parse(readFileSync(file, "utf8")).Resources);
}

/** Every route with its path below the stage. */
const everyRoute = [
  ...routes.map((route) => ({ ...route, path: `/v1${route.path}` })),
  ...dashboardRoutes.map((route) => ({ ...route, path: `/dashboard${route.path}` })),
];

const workers = [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers];
const isWorker = (name: string) => workers.some((worker) => worker.name === name);
const contracts = [
  {
    name: "authorize",
    contract: {
      uses: ["table:read", "table:limits", "table:credentials", "proxy-secret"],
      timeoutSeconds: 10,
    },
  },
  { name: "refuse-route", contract: { uses: [] } },
  { name: "serve-dashboard", contract: { uses: [] } },
  ...everyRoute.map(({ name, endpoint }) => ({ name, contract: endpoint })),
  ...workers.map(({ name, worker }) => ({ name, contract: worker })),
] as readonly {
  name: string;
  contract: {
    uses: readonly string[];
    timeoutSeconds?: number;
    memoryMegabytes?: number;
    queue?: string;
    recursive?: boolean;
  };
}[];

const queueArn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${stackName}-${name}`;
const tableArn = () => production.arn(production.ofType("AWS::DynamoDB::Table")[0]?.logicalId ?? "");

/** What a word of `uses` may grant, written a second time and independently of lib/uses.ts. */
function allowedBy(use: string): string[] {
  const secretArn = production.arn(production.ofType("AWS::SecretsManager::Secret")[0]?.logicalId ?? "");
  const [kind, name] = use.split(":");
  const on = (resource: string, ...actions: string[]) => actions.map((action) => `${action} ${resource}`);
  if (use === "table:read") {
    const reads = ["GetItem", "BatchGetItem", "Query", "ConditionCheckItem"];
    return on(tableArn(), ...reads.map((action) => `dynamodb:${action}`));
  }
  if (use === "table:write") {
    const writes = ["PutItem", "UpdateItem", "DeleteItem"];
    return on(tableArn(), ...writes.map((action) => `dynamodb:${action}`));
  }
  if (use.startsWith("table:write:")) return [];
  if (["table:limits", "table:credentials", "table:recipients"].includes(use))
    return on(tableArn(), "dynamodb:UpdateItem");
  if (use === "table:due-index") return on(`${tableArn()}/index/due`, "dynamodb:Query");
  if (use === "table:breach-index") return on(`${tableArn()}/index/breach`, "dynamodb:Query");
  if (kind === "queue") return on(queueArn(name ?? ""), "sqs:SendMessage");
  if (use === "hibp") return on(secretArn, "secretsmanager:GetSecretValue");
  if (use === "channel-key") {
    const key = `arn:aws:ssm:us-east-1:000000000000:parameter/breach-monitor/${stackName}/channel-key`;
    return on(key, "ssm:GetParameter", "ssm:PutParameter");
  }
  if (use === "schedules") {
    const actions = ["CreateSchedule", "UpdateSchedule", "DeleteSchedule"];
    const schedules = `arn:aws:scheduler:us-east-1:000000000000:schedule/${stackName}-scheduled-scans/*`;
    return on(schedules, ...actions.map((action) => `scheduler:${action}`));
  }
  if (use === "schedule-role") return on(production.outputs().ScheduledScanRoleArn ?? "", "iam:PassRole");
  // The production stack of this test has neither a sender nor a proxy; the last two only set variables.
  const grantsNothing = ["proxy-secret", "email", "email-confirmation", "mail-setting", "dashboard-url"];
  if (grantsNothing.includes(use)) return [];
  throw new Error(`Unknown use ${use}: say here what it grants`);
}

const named = <P = Properties>(assembly: Assembly, type: string, property: string, name: string) => {
  const found = assembly
    .ofType<P & Record<string, unknown>>(type)
    .filter((each) => each.properties[property] === name);
  expect(found, `${type} ${name}`).toHaveLength(1);
  return (found[0] as (typeof found)[number]).properties;
};
const functionNamed = (name: string) =>
  named<{
    Architectures: string[];
    Environment: { Variables: Record<string, string> };
    MemorySize: number;
    RecursiveLoop?: string;
    Role: string;
    Runtime: string;
    Timeout: number;
    TracingConfig?: { Mode: string };
  }>(production, "AWS::Lambda::Function", "FunctionName", `${stackName}-${name}`);

/** Everything that a role may do, as "action resource". */
const permissionsOf = (roleArn: string, assembly = production): string[] =>
  statementsOf(roleArn, assembly).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${resource}`)),
  );

/** The statements of a role's policies. Fails on anything but inline Allow statements. */
function statementsOf(roleArn: string, assembly = production): Statement[] {
  const roleId = assembly.logicalIdOf(roleArn) ?? "";
  const role = assembly.resource(roleId);
  expect(role.properties.ManagedPolicyArns).toBeUndefined();
  const policies = role.properties.Policies as { PolicyDocument: { Statement: Statement[] } }[];
  const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  for (const { Effect } of statements) expect(Effect).toBe("Allow");
  return statements;
}

/** Of a function: its own, or the one that all endpoints of a part of the API share. */
const logGroupOf = (name: string) => {
  const part = everyRoute.find((route) => route.name === name)?.path.split("/")[1];
  return `/aws/lambda/${stackName}-${part ?? name}`;
};

const isTraced = (name: string): boolean => !isWorker(name) && name !== "authorize";

describe.each(contracts)("function $name", ({ name, contract }) => {
  test("may do exactly what its contract says", () => {
    const { Role } = functionNamed(name);
    const logs = contracts
      .filter((other) => functionNamed(other.name).Role === Role)
      .map((other) => `arn:aws:logs:us-east-1:000000000000:log-group:${logGroupOf(other.name)}:*`);
    const expected = new Set([
      ...logs.flatMap((arn) => [`logs:CreateLogStream ${arn}`, `logs:PutLogEvents ${arn}`]),
      ...(isTraced(name) ? ["xray:PutTraceSegments *", "xray:PutTelemetryRecords *"] : []),
      ...(name === "start-scheduled-scan" ? [`sqs:SendMessage ${queueArn("dead-letters")}`] : []),
      ...contract.uses.flatMap(allowedBy),
    ]);
    if (contract.queue !== undefined) {
      for (const action of [
        "ReceiveMessage",
        "DeleteMessage",
        "GetQueueAttributes",
        "ChangeMessageVisibility",
      ]) {
        expected.add(`sqs:${action} ${queueArn(contract.queue)}`);
      }
    }
    expect(new Set(permissionsOf(Role))).toEqual(expected);
  });

  test("runs as its contract says", () => {
    expect(functionNamed(name)).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Timeout: contract.timeoutSeconds ?? 10,
      MemorySize: contract.memoryMegabytes ?? (isWorker(name) ? 256 : 1_024),
      Handler: "index.handler",
    });
    expect(functionNamed(name).TracingConfig?.Mode).toBe(isTraced(name) ? "Active" : undefined);
    expect(functionNamed(name).RecursiveLoop).toBe(contract.recursive ? "Allow" : undefined);
  });

  test("has only what it uses in its environment, and no secret", () => {
    const variables = Object.keys(functionNamed(name).Environment.Variables);
    const uses = (prefix: string) => contract.uses.some((use) => use.startsWith(prefix));
    const queues = contract.uses
      .filter((use) => use.startsWith("queue:"))
      .map((use) => `${use.slice("queue:".length).toUpperCase().replaceAll("-", "_")}_QUEUE_URL`);
    const others = variables.filter(
      (variable) => variable !== "POWERTOOLS_SERVICE_NAME" && !variable.endsWith("_INTERVAL_SECONDS"),
    );
    expect(new Set(others)).toEqual(
      new Set([
        ...(uses("table:") ? ["TABLE_NAME"] : []),
        ...(uses("hibp") ? ["HIBP_API_KEY_SECRET_ARN"] : []),
        ...(uses("channel-key") ? ["CHANNEL_KEY_PARAMETER"] : []),
        ...(name === "refuse-route" ? ["DECLARED_METHODS"] : []),
        ...(name === "authorize" ? ["PATHS_FOR_ANYONE"] : []),
        ...(uses("dashboard-url") ? ["DASHBOARD_URL"] : []),
        ...(uses("schedules")
          ? ["SCHEDULE_GROUP_NAME", "SCHEDULED_SCAN_FUNCTION_ARN", "DEAD_LETTERS_QUEUE_ARN"]
          : []),
        ...(uses("schedule-role") ? ["SCHEDULED_SCAN_ROLE_ARN"] : []),
        ...(contract.queue === undefined ? [] : ["SOURCE_QUEUE_URL"]),
        ...queues,
      ]),
    );
  });

  test("keeps its log for 90 days", () => {
    expect(named(production, "AWS::Logs::LogGroup", "LogGroupName", logGroupOf(name))).toMatchObject({
      RetentionInDays: 90,
    });
    expect(functionNamed(name)).toMatchObject({ LoggingConfig: { LogGroup: logGroupOf(name) } });
  });
});

test("four functions have the key of alert channels, and none can replace it", () => {
  const statements = contracts.flatMap(({ name }) =>
    statementsOf(functionNamed(name).Role)
      .filter(({ Action }) => [Action].flat().some((action) => action.startsWith("ssm:")))
      .map(({ Condition }) => ({ name, Condition })),
  );
  const Condition = { StringEqualsIfExists: { "ssm:Overwrite": "false" } };
  expect(statements).toEqual(
    expect.arrayContaining(
      ["create-alert-config", "change-alert-config", "deliver-alert", "retry-alert"].map((name) => ({
        name,
        Condition,
      })),
    ),
  );
  expect(statements).toHaveLength(4);
});

test("a role is handed on by one function, and to EventBridge Scheduler only", () => {
  const handing = contracts.flatMap(({ name }) =>
    statementsOf(functionNamed(name).Role)
      .filter(({ Action }) => [Action].flat().some((action) => action.startsWith("iam:")))
      .map(({ Action, Condition }) => ({ name, Action, Condition })),
  );
  expect(handing).toEqual([
    {
      name: "change-organization",
      Action: "iam:PassRole",
      Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
    },
  ]);
});

test("functions that count requests write limits, the authorizer also credentials", () => {
  const conditional = contracts.flatMap(({ name }) =>
    statementsOf(functionNamed(name).Role)
      .filter(({ Condition = {} }) => "ForAllValues:StringLike" in Condition)
      .map((statement) => ({ name, ...statement })),
  );
  const updateOf = (name: string, keys: string[], attributes?: string[]) => ({
    name,
    Effect: "Allow",
    Action: "dynamodb:UpdateItem",
    Resource: tableArn(),
    Condition: {
      "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys },
      ...(attributes && { "ForAllValues:StringEquals": { "dynamodb:Attributes": attributes } }),
      Null: { "dynamodb:LeadingKeys": "false" },
    },
  });
  const ofUse = ["pk", "sk", "v", "lastUsedAt", "expiresAt"];
  const ofConsent = ["pk", "sk", "v", "secret", "consent"];
  expect(conditional).toEqual([
    updateOf("authorize", ["LIMIT#*"]),
    updateOf("authorize", ["ORG#*#SESSION", "ORG#*#KEY"], ofUse),
    updateOf("preview-import", ["LIMIT#*"]),
    updateOf("confirm-recipient", ["ORG#*#RECIPIENT"], ofConsent),
    updateOf("unsubscribe-recipient", ["ORG#*#RECIPIENT"], ofConsent),
  ]);
  const writing = (name: string) =>
    permissionsOf(functionNamed(name).Role).filter((permission) =>
      /^dynamodb:(Put|Update|Delete)/.test(permission),
    );
  for (const { name } of conditional) {
    expect(new Set(writing(name))).toEqual(new Set([`dynamodb:UpdateItem ${tableArn()}`]));
  }
});

test("the function that refuses routes knows every declared method", () => {
  const declared = JSON.parse(functionNamed("refuse-route").Environment.Variables.DECLARED_METHODS ?? "");
  const entries = Object.entries<string[]>(declared);
  expect(entries.flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`)).sort()).toEqual(
    everyRoute.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});

test("the authorizer looks at no credential on paths of links and signing in only", () => {
  const paths = JSON.parse(functionNamed("authorize").Environment.Variables.PATHS_FOR_ANYONE ?? "");
  expect(paths).toEqual([
    "/dashboard/sign-in",
    "/dashboard/sign-in/links",
    "/dashboard/sign-in/sessions",
    "/dashboard/recipients/{token}",
    "/dashboard/recipients/{token}/confirm",
    "/dashboard/recipients/{token}/unsubscribe",
  ]);
  const byAccess = Map.groupBy(
    everyRoute.filter(({ path }) => paths.includes(path)),
    ({ endpoint }) => endpoint.access,
  );
  expect([...byAccess.keys()]).toEqual(["anyone"]);
});

test("every endpoint of the dashboard says who may call it, none of /api/v1 does", () => {
  for (const { name, endpoint } of dashboardRoutes) expect([name, endpoint.access]).not.toContain(undefined);
  for (const { endpoint } of routes) expect(endpoint.access).toBeUndefined();
});

test("functions have one role if they may do the same, and it tells what that is", () => {
  const everyFunction = contracts.map(({ name }) => functionNamed(name));
  const sets = Map.groupBy(everyFunction, ({ Role }) =>
    JSON.stringify(statementsOf(Role).filter(({ Action }) => ![Action].flat().includes("logs:PutLogEvents"))),
  );
  for (const [permissions, functions] of sets) {
    expect(new Set(functions.map(({ Role }) => Role)).size, permissions).toBe(1);
  }
  const descriptions = templateResources("production")
    .filter(({ Type, Properties }) => Type === "AWS::IAM::Role" && "Description" in Properties)
    .map(({ Properties }) => (Properties as { Description: string }).Description);
  expect(descriptions).toContain("May table:read, traces");
  expect(new Set(descriptions).size).toBe(descriptions.length);
});

test.each(["deliver-alert", "retry-alert"])("%s knows where the dashboard is", (name) => {
  expect(functionNamed(name).Environment.Variables.DASHBOARD_URL).toBe(
    "https://local.execute-api.us-east-1.amazonaws.com/api/app",
  );
  expect(production.outputs()).toMatchObject({
    ApiUrl: "https://local.execute-api.us-east-1.amazonaws.com/api/v1",
    DashboardUrl: "https://local.execute-api.us-east-1.amazonaws.com/api/app",
  });
  const type = "AWS::Lambda::Function";
  expect(named(staging, type, "FunctionName", `breach-monitor-staging-${name}`).Environment).toMatchObject({
    Variables: { DASHBOARD_URL: "https://breaches.example.com/api/app" },
  });
});

test("no resource depends on itself, not even through others", () => {
  const file = join(directory, "cdk.out-production", `${stackName}.template.json`);
  const resources: Record<string, { DependsOn?: string | string[] }> = JSON.parse(
    readFileSync(file, "utf8"),
  ).Resources;
  const namesIn = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(namesIn);
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([key, each]) => {
      if (key === "Ref") return [String(each)];
      return key === "Fn::GetAtt" ? [String(each[0])] : namesIn(each);
    });
  };
  const needs = new Map(
    Object.entries(resources).map(([id, resource]) => [
      id,
      [...namesIn(resource), ...[resource.DependsOn ?? []].flat()].filter((name) => name in resources),
    ]),
  );
  // What can be created, as CloudFormation does it: resources whose needs are there.
  const created = new Set<string>();
  for (let before = -1; before < created.size; ) {
    before = created.size;
    for (const [id, wanted] of needs) if (wanted.every((each) => created.has(each))) created.add(id);
  }
  expect([...needs.values()].flat().length).toBeGreaterThan(created.size);
  expect([...needs.keys()].filter((id) => !created.has(id))).toEqual([]);
});

test("every function is a route's, a worker's, the page's or the edge's", () => {
  const names = production.ofType<{ FunctionName: string }>("AWS::Lambda::Function");
  expect(names.map(({ properties }) => properties.FunctionName).sort()).toEqual(
    contracts.map(({ name }) => `${stackName}-${name}`).sort(),
  );
});

test("no policy allows all actions of a service, and only traces have all resources", () => {
  expect(production.ofType("AWS::IAM::Policy")).toEqual([]);
  const policies = production
    .ofType<{ Policies?: { PolicyDocument: { Statement: Statement[] } }[] }>("AWS::IAM::Role")
    .flatMap(({ properties }) => properties.Policies ?? []);
  expect(policies.length).toBeGreaterThan(20);
  for (const { Action, Resource } of policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)) {
    const actions = [Action].flat();
    expect(actions.filter((action) => action.includes("*"))).toEqual([]);
    if ([Resource].flat().includes("*")) {
      expect(actions.every((action) => action.startsWith("xray:"))).toBe(true);
    }
  }
});

test("every queue has a worker", () => {
  expect(queueWorkers.map(({ worker }) => worker.queue).sort()).toEqual(Object.keys(messages).sort());
});

describe.each(queueWorkers)("queue of $name", ({ name, worker }) => {
  const queue = () =>
    named<{
      VisibilityTimeout: number;
      MessageRetentionPeriod?: number;
      RedrivePolicy: { deadLetterTargetArn: string; maxReceiveCount: number };
    }>(production, "AWS::SQS::Queue", "QueueName", `${stackName}-${worker.queue}`);

  test("hides messages for at least six times the function's timeout", () => {
    expect(queue().VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.timeoutSeconds);
  });

  test("leaves what it gives up as a dead letter", () => {
    expect(queue().RedrivePolicy.deadLetterTargetArn).toBe(queueArn("dead-letters"));
  });

  test("keeps messages through three hours in which Lambda throttles every receive", () => {
    const { VisibilityTimeout, RedrivePolicy } = queue();
    expect(RedrivePolicy.maxReceiveCount * VisibilityTimeout).toBeGreaterThanOrEqual(3 * 3600);
  });

  test("gives up a message that always fails within a day, long before it expires", () => {
    const { maxReceiveCount } = queue().RedrivePolicy;
    const receives = Array.from({ length: maxReceiveCount }, (_, index) => index + 1);
    const delays = receives.map((count) => retryDelaySeconds(count) + worker.timeoutSeconds);
    const crashes = maxReceiveCount * queue().VisibilityTimeout;
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeLessThan(86_400);
    expect(crashes).toBeLessThan(queue().MessageRetentionPeriod ?? 345_600);
  });

  type Source = { EventSourceArn: string; ScalingConfig?: object; Enabled: boolean };
  const sourceIn = (assembly: Assembly) => {
    const sources = assembly
      .ofType<Source>("AWS::Lambda::EventSourceMapping")
      .map(({ properties }) => properties)
      .filter(({ EventSourceArn }) => EventSourceArn.endsWith(`-${worker.queue}`));
    expect(sources).toHaveLength(1);
    return sources[0] as Source;
  };

  test("feeds its function batches of the worker's size", () => {
    const { batchSize: BatchSize = 1, maximumConcurrency: MaximumConcurrency } = worker;
    expect(sourceIn(production)).toMatchObject({
      FunctionName: `${stackName}-${name}`,
      BatchSize,
      // Lambda then polls as much as ever while runs fail.
      FunctionResponseTypes: ["ReportBatchItemFailures"],
    });
    expect(sourceIn(production).ScalingConfig).toEqual(MaximumConcurrency && { MaximumConcurrency });
    expect(sourceIn(cheapest).ScalingConfig).toBeUndefined();
  });

  test("is not polled where nothing can be sent to it", () => {
    expect(sourceIn(production).Enabled).toBe(name !== "mail-sign-in-link");
    expect(sourceIn(staging).Enabled).toBe(true);
  });
});

test("every queue is encrypted and refuses plain connections", () => {
  const queues = production.ofType<{ SqsManagedSseEnabled: boolean }>("AWS::SQS::Queue");
  expect(queues.filter(({ properties }) => !properties.SqsManagedSseEnabled)).toEqual([]);
  const guarded = production
    .ofType<{ PolicyDocument: { Statement: Statement[] } }>("AWS::SQS::QueuePolicy")
    .flatMap(({ properties }) => properties.PolicyDocument.Statement)
    .filter(
      ({ Effect, Condition }) => Effect === "Deny" && JSON.stringify(Condition).includes("SecureTransport"),
    )
    .map(({ Resource }) => Resource);
  expect(guarded.sort()).toEqual(queues.map(({ logicalId }) => production.arn(logicalId)).sort());
});

test("the dead letters of all queues and schedules are kept for 14 days", () => {
  const deadLetters = named(production, "AWS::SQS::Queue", "QueueName", `${stackName}-dead-letters`);
  expect(deadLetters).toMatchObject({ MessageRetentionPeriod: 1_209_600 });
});

test("a scheduled scan that cannot be started within an hour becomes a dead letter", () => {
  const settings = production
    .ofType<Properties>("AWS::Lambda::EventInvokeConfig")
    .map(({ properties }) => properties)
    .filter(({ FunctionName }) => FunctionName === `${stackName}-start-scheduled-scan`);
  expect(settings).toMatchObject([
    {
      MaximumEventAgeInSeconds: 3600,
      MaximumRetryAttempts: 2,
      DestinationConfig: { OnFailure: { Destination: queueArn("dead-letters") } },
    },
  ]);
  expect(production.outputs().DeadLettersQueueArn).toBe(queueArn("dead-letters"));
});

describe.each(scheduledWorkers)("schedule of $name", ({ name, worker }) => {
  type Schedule = {
    ScheduleExpression: string;
    Target: { Arn: string; RoleArn: string; DeadLetterConfig: { Arn: string }; RetryPolicy: object };
  };
  const schedule = () =>
    named<Schedule>(production, "AWS::Scheduler::Schedule", "Name", `${stackName}-${name}`);

  test("runs at the contract's rate", () => {
    const unit = worker.everyMinutes === 1 ? "minute" : "minutes";
    expect(schedule().ScheduleExpression).toBe(`rate(${worker.everyMinutes} ${unit})`);
  });

  test("may only invoke its function and leave dead letters", () => {
    const { Target } = schedule();
    expect(permissionsOf(Target.RoleArn).sort()).toEqual([
      `lambda:InvokeFunction ${Target.Arn}`,
      `sqs:SendMessage ${queueArn("dead-letters")}`,
    ]);
    expect(Target.DeadLetterConfig.Arn).toBe(queueArn("dead-letters"));
  });
});

test("schedules made at run time may invoke one function, from the stack's group only", () => {
  const outputs = production.outputs();
  const roleArn = outputs.ScheduledScanRoleArn ?? "";
  expect(permissionsOf(roleArn)).toEqual([
    `lambda:InvokeFunction ${outputs.ScheduledScanFunctionArn}`,
    `sqs:SendMessage ${queueArn("dead-letters")}`,
  ]);
  expect(
    production.resource(production.logicalIdOf(roleArn) ?? "").properties.AssumeRolePolicyDocument,
  ).toMatchObject({
    Statement: [
      {
        Principal: { Service: "scheduler.amazonaws.com" },
        Condition: {
          StringEquals: {
            "aws:SourceAccount": "000000000000",
            "aws:SourceArn": `arn:aws:scheduler:us-east-1:000000000000:schedule-group/${outputs.ScheduleGroupName}`,
          },
        },
      },
    ],
  });
});

test("the table is protected against deletion and backed up continuously", () => {
  const tables = templateResources("production").filter(({ Type }) => Type === "AWS::DynamoDB::Table");
  expect(tables).toMatchObject([
    {
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        BillingMode: "PAY_PER_REQUEST",
        TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
        GlobalSecondaryIndexes: [
          { IndexName: "due", Projection: { ProjectionType: "KEYS_ONLY" } },
          { IndexName: "breach", Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["group"] } },
        ],
      },
    },
  ]);
});

describe("with the name of an existing table", () => {
  const tableName = "Kept.table_2-restored";

  test("the stack makes no table; functions, permissions and outputs name that one", () => {
    expect(restored.ofType("AWS::DynamoDB::Table")).toEqual([]);
    expect(restored.outputs().TableName).toBe(tableName);
    const itsArn = `arn:aws:dynamodb:us-east-1:000000000000:table/${tableName}`;
    for (const { name, contract } of contracts) {
      const { Environment, Role } = named<{
        Environment: { Variables: Record<string, string> };
        Role: string;
      }>(restored, "AWS::Lambda::Function", "FunctionName", `breach-monitor-restored-${name}`);
      const usesTable = contract.uses.some((use) => use.startsWith("table:"));
      expect(Environment.Variables.TABLE_NAME).toBe(usesTable ? tableName : undefined);
      const onTable = (permissions: string[]) =>
        permissions.filter((permission) => permission.startsWith("dynamodb:")).sort();
      expect(onTable(permissionsOf(Role, restored))).toEqual(
        onTable(permissionsOf(functionNamed(name).Role)).map((each) => each.replace(tableArn(), itsArn)),
      );
    }
  });

  test("everything else in the template stays the same", () => {
    const types = (stage: string) => templateResources(stage).map(({ Type }) => Type);
    expect(["AWS::DynamoDB::Table", ...types("restored")].sort()).toEqual(types("production").sort());
  });

  test.each(["", "ab", "a".repeat(256), "arn:aws:dynamodb:us-east-1:000000000000:table/kept", "my table"])(
    'synthesis refuses "%s", which no table is called',
    (name) => {
      expect(() => synthesize("misnamed", { tableName: name })).toThrow(
        "tableName must be the name of a DynamoDB table",
      );
    },
  );
});

describe("REST API", () => {
  type Method = {
    AuthorizationType: string;
    AuthorizerId: string;
    HttpMethod: string;
    Integration: { Uri: string; Type: string; Credentials: string };
    ResourceId: string;
  };
  const pathOf = (resourceId: string): string => {
    const found = production
      .ofType<{ ParentId: string; PathPart: string }>("AWS::ApiGateway::Resource")
      .find(({ logicalId }) => production.physicalId(logicalId) === resourceId);
    return found === undefined ? "" : `${pathOf(found.properties.ParentId)}/${found.properties.PathPart}`;
  };
  const methods = () =>
    production.ofType<Method>("AWS::ApiGateway::Method").map(({ properties }) => ({
      ...properties,
      request: `${properties.HttpMethod} ${pathOf(properties.ResourceId)}`,
      functionName: /:function:([^/]+)\/invocations$/.exec(properties.Integration.Uri)?.[1],
    }));

  /** Those of the dashboard's page, which is for everybody. */
  const isOfPage = ({ request }: { request: string }) => /^ANY (?:$|\/app(?:\/|$))/.test(request);

  test("every method has the one authorizer, but those of the dashboard's page", () => {
    const [authorizer] = production.ofType("AWS::ApiGateway::Authorizer");
    expect(methods().length).toBeGreaterThan(everyRoute.length);
    for (const method of methods().filter(isOfPage)) {
      expect(method.AuthorizationType).toBe("NONE");
      expect(method.AuthorizerId).toBeUndefined();
    }
    for (const method of methods().filter((each) => !isOfPage(each))) {
      expect(method.AuthorizationType).toBe("CUSTOM");
      expect(method.AuthorizerId).toBe(production.physicalId(authorizer?.logicalId ?? ""));
      expect(method.Integration.Type).toBe("AWS_PROXY");
    }
  });

  test("takes only TLS 1.2 or newer with forward secrecy, at its own endpoint", () => {
    expect(production.ofType<Properties>("AWS::ApiGateway::RestApi")).toMatchObject([
      {
        properties: {
          SecurityPolicy: "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09",
          EndpointAccessMode: "STRICT",
          EndpointConfiguration: { Types: ["REGIONAL"] },
        },
      },
    ]);
  });

  test("asks the authorizer for every request, without cache or identity sources", () => {
    const authorizers = production.ofType<Properties>("AWS::ApiGateway::Authorizer");
    expect(authorizers).toMatchObject([{ properties: { Type: "REQUEST", AuthorizerResultTtlInSeconds: 0 } }]);
    expect(authorizers[0]?.properties).not.toHaveProperty("IdentitySource");
  });

  test("sends every route to its function", () => {
    const declared = methods().filter(({ HttpMethod }) => HttpMethod !== "ANY");
    expect(declared.map(({ request, functionName }) => `${request} ${functionName}`).sort()).toEqual(
      everyRoute.map(({ method, path, name }) => `${method} ${path} ${stackName}-${name}`).sort(),
    );
  });

  test("sends everything else to the function that refuses it", () => {
    const paths = new Set(["/v1/{proxy+}", "/dashboard/{proxy+}"]);
    for (const { path } of everyRoute) {
      const parts = path.split("/").slice(1);
      for (const [index] of parts.entries()) paths.add(`/${parts.slice(0, index + 1).join("/")}`);
    }
    const any = methods().filter((each) => each.HttpMethod === "ANY" && !isOfPage(each));
    expect(any.map(({ request }) => request).sort()).toEqual([...paths].map((path) => `ANY ${path}`).sort());
    expect(new Set(any.map(({ functionName }) => functionName))).toEqual(
      new Set([`${stackName}-refuse-route`]),
    );
  });

  test("answers errors of the gateway itself in the contract's form", () => {
    type Response = {
      ResponseType: string;
      ResponseParameters: Record<string, string>;
      ResponseTemplates: Record<string, string>;
      StatusCode?: string;
    };
    const responses = production
      .ofType<Response>("AWS::ApiGateway::GatewayResponse")
      .map((each) => each.properties);
    for (const { ResponseTemplates, ResponseParameters } of responses) {
      expect(Object.keys(ResponseTemplates)).toEqual(["application/json"]);
      const body = JSON.parse(
        Object.values(ResponseTemplates)[0]?.replace("$context.error.messageString", '"text"') ?? "",
      );
      expect(Object.keys(body)).toEqual(["error"]);
      expect(ResponseParameters).toMatchObject({
        "gatewayresponse.header.Cache-Control": "'no-store'",
        "gatewayresponse.header.X-Request-Id": "context.requestId",
      });
    }
    const response = (type: string) => responses.find(({ ResponseType }) => ResponseType === type);
    const unauthenticated = {
      StatusCode: "401",
      ResponseTemplates: { "application/json": JSON.stringify({ error: refusals.unauthenticated.error }) },
      ResponseParameters: { "gatewayresponse.header.WWW-Authenticate": "'Bearer'" },
    };
    expect(response("ACCESS_DENIED")).toMatchObject(unauthenticated);
    expect(response("UNAUTHORIZED")).toMatchObject(unauthenticated);
    expect(response("MISSING_AUTHENTICATION_TOKEN")?.StatusCode).toBe("404");
    expect(response("DEFAULT_5XX")).toMatchObject({
      StatusCode: "500",
      ResponseTemplates: { "application/json": '{"error":"Internal error"}' },
    });
    for (const type of ["THROTTLED", "QUOTA_EXCEEDED"]) {
      expect(response(type)?.ResponseParameters["gatewayresponse.header.Retry-After"]).toMatch(/^'\d+'$/);
    }
  });

  test("logs no path, query string or header, and traces no url", () => {
    const [stage] = production.ofType<{ AccessLogSetting: { Format: string }; TracingEnabled?: boolean }>(
      "AWS::ApiGateway::Stage",
    );
    expect(stage?.properties.TracingEnabled).not.toBe(true);
    const format = stage?.properties.AccessLogSetting.Format ?? "";
    expect(Object.keys(JSON.parse(format))).toContain("requestId");
    expect(format).not.toMatch(/\$context\.path|querystring|header|authorization|userAgent/i);
  });

  test("invokes the functions of its methods, and no others, in one role", () => {
    const roles = new Set(methods().map(({ Integration }) => Integration.Credentials));
    expect(roles.size).toBe(1);
    const [role = ""] = roles;
    const invoked = [...everyRoute.map(({ name }) => name), "refuse-route", "serve-dashboard"];
    expect(permissionsOf(role).sort()).toEqual(
      invoked
        .map(
          (name) =>
            `lambda:InvokeFunction arn:aws:lambda:us-east-1:000000000000:function:${stackName}-${name}`,
        )
        .sort(),
    );
    const trust = production.resource(production.logicalIdOf(role) ?? "").properties.AssumeRolePolicyDocument;
    // API Gateway sends no `aws:SourceAccount` here: a condition on it would refuse every request.
    expect(trust).toMatchObject({
      Statement: [
        { Action: "sts:AssumeRole", Effect: "Allow", Principal: { Service: "apigateway.amazonaws.com" } },
      ],
    });
    expect(trust).not.toHaveProperty(["Statement", 0, "Condition"]);
  });

  test("has the only authorizer that a function's own permission lets invoke it", () => {
    const permissions = production.ofType<{ SourceArn?: string }>("AWS::Lambda::Permission");
    expect(permissions.map(({ properties }) => properties.SourceArn)).toEqual([
      expect.stringMatching(/^arn:aws:execute-api:us-east-1:000000000000:local\/authorizers\//),
    ]);
  });
});

test("the longest name of a stage makes no function's name too long for Lambda", () => {
  const longestStage = "s".repeat(27);
  const names = contracts.map(({ name }) => `breach-monitor-${longestStage}-${name}`);
  expect(Math.max(...names.map(({ length }) => length))).toBe(64);
});

test("two stages have no name in common, so that one account can hold both", () => {
  const names = (assembly: Assembly, stage: string) =>
    [
      "AWS::Lambda::Function",
      "AWS::SQS::Queue",
      "AWS::Logs::LogGroup",
      "AWS::CloudWatch::Alarm",
      "AWS::Scheduler::Schedule",
      "AWS::Scheduler::ScheduleGroup",
      "AWS::SecretsManager::Secret",
      "AWS::DynamoDB::Table",
      "AWS::IAM::Role",
      "AWS::SNS::Topic",
    ].flatMap((type) =>
      assembly.ofType(type).map(({ logicalId }) => {
        const name = assembly.physicalId(logicalId);
        expect(name, `${type} ${logicalId}`).toContain(`breach-monitor-${stage}`);
        return `${type} ${name}`;
      }),
    );
  const ours = new Set(names(production, "production"));
  expect(names(staging, "staging").filter((name) => ours.has(name))).toEqual([]);
});

test("with a web ACL an address is blocked that asks far more than its limit", () => {
  expect(production.ofType("AWS::WAFv2::WebACL")).toEqual([]);
  expect(staging.ofType<Properties>("AWS::WAFv2::WebACL")).toMatchObject([
    {
      properties: {
        Scope: "REGIONAL",
        DefaultAction: { Allow: {} },
        Rules: [
          {
            Action: { Block: {} },
            Statement: {
              RateBasedStatement: {
                AggregateKeyType: "IP",
                EvaluationWindowSec: 300,
                Limit: 5 * 5 * perMinute.address,
              },
            },
          },
        ],
      },
    },
  ]);
  expect(staging.ofType<Properties>("AWS::WAFv2::WebACLAssociation")).toMatchObject([
    { properties: { ResourceArn: expect.stringMatching(/::\/restapis\/local\/stages\/api$/) } },
  ]);
});

test("API Gateway lets through few requests a second, or as many as an option says", () => {
  type Stage = { MethodSettings: { ThrottlingRateLimit: number; ThrottlingBurstLimit: number }[] };
  const throttle = (assembly: Assembly) =>
    assembly.ofType<Stage>("AWS::ApiGateway::Stage")[0]?.properties.MethodSettings;
  expect(throttle(production)).toMatchObject([{ ThrottlingRateLimit: 15, ThrottlingBurstLimit: 100 }]);
  expect(throttle(staging)).toMatchObject([{ ThrottlingRateLimit: 200, ThrottlingBurstLimit: 400 }]);
});

test("the table's key is in the account only where an option says so", () => {
  const encryption = (assembly: Assembly) =>
    assembly.ofType<{ SSESpecification?: object }>("AWS::DynamoDB::Table")[0]?.properties.SSESpecification;
  expect(encryption(production)).toEqual({ SSEEnabled: false });
  expect(encryption(staging)).toEqual({ SSEEnabled: true });
});

test("an option can leave the request's id out of replies of API Gateway itself", () => {
  type Response = { ResponseParameters: Record<string, string> };
  const idsOf = (assembly: Assembly) =>
    assembly
      .ofType<Response>("AWS::ApiGateway::GatewayResponse")
      .map(({ properties }) => properties.ResponseParameters["gatewayresponse.header.X-Request-Id"]);
  expect(new Set(idsOf(production))).toEqual(new Set(["context.requestId"]));
  expect(new Set(idsOf(staging))).toEqual(new Set([undefined]));
});

describe("where the HIBP key is", () => {
  const readers = ["look-up-emails", "plan-scan", "sync-catalog"];
  const secretsOf = (assembly: Assembly) => assembly.ofType("AWS::SecretsManager::Secret").length;
  const readersOf = (assembly: Assembly, variable: string) =>
    assembly
      .ofType<{ FunctionName: string; Environment: { Variables: object } }>("AWS::Lambda::Function")
      .filter(({ properties }) => variable in properties.Environment.Variables)
      .map(({ properties }) => properties.FunctionName.replace(`${assembly.stackName}-`, ""))
      .sort();

  test("is a secret of the stack", () => {
    expect(secretsOf(production)).toBe(1);
    expect(readersOf(production, "HIBP_API_KEY_SECRET_ARN")).toEqual(readers);
    expect(readersOf(production, "HIBP_API_KEY_PARAMETER")).toEqual([]);
  });

  test("is a parameter that operators make, where an idle deployment costs least", () => {
    expect(secretsOf(cheapest)).toBe(0);
    expect(readersOf(cheapest, "HIBP_API_KEY_PARAMETER")).toEqual(readers);
    expect(cheapest.outputs().HibpApiKeyParameter).toBe(
      "/breach-monitor/breach-monitor-cheapest/hibp-api-key",
    );
  });

  test("and whether workers have a maximum can be chosen beside the alarms", () => {
    const context: Record<string, unknown> = {
      alarms: "minimal",
      hibpApiKey: "secret",
      maximumConcurrency: true,
    };
    expect(readOptions((name) => context[name])).toMatchObject(context);
    const dear = { hibpApiKey: "parameter", maximumConcurrency: "false" } as Record<string, unknown>;
    expect(readOptions((name) => dear[name])).toMatchObject({
      alarms: "all",
      hibpApiKey: "parameter",
      maximumConcurrency: false,
    });
  });
});

test.each([
  [{ hibpApiKey: "file" }, 'hibpApiKey must be secret or parameter, not "file"'],
  [{ maximumConcurrency: "10" }, 'maximumConcurrency must be true or false, not "10"'],
  [{ alarms: "some" }, 'alarms must be all or minimal, not "some"'],
  [{ requestsPerSecond: "0" }, 'requestsPerSecond must be a whole number from 1 to 10000, not "0"'],
  [{ requestsPerSecond: "1e3" }, 'requestsPerSecond must be a whole number from 1 to 10000, not "1e3"'],
  [{ requestsPerSecond: 10_001 }, 'requestsPerSecond must be a whole number from 1 to 10000, not "10001"'],
  [{ webAcl: "yes" }, 'webAcl must be true or false, not "yes"'],
  [{ tableEncryption: "none" }, 'tableEncryption must be aws-owned or aws-managed, not "none"'],
])("the option %o is refused", (context: Record<string, unknown>, sentence) => {
  expect(() => readOptions((name) => context[name])).toThrow(sentence);
});

test.each(["", "proxy-secret", "/", "/a/", "//a", "/a b", "0123456789abcdef", true])(
  "the proxy's secret %o is refused, without being repeated",
  (value) => {
    const reading = () => readOptions((name) => (name === "trustedProxySecret" ? value : undefined));
    expect(reading).toThrow(
      /^trustedProxySecret must be the name of a parameter, such as \/breach-monitor\/proxy-secret$/,
    );
  },
);

test("a proxy's secret can be read by the authorizer alone, where an option names it", () => {
  type Function = { FunctionName: string; Environment: { Variables: Record<string, string> }; Role: string };
  const parameter = "arn:aws:ssm:us-east-1:000000000000:parameter/breach-monitor/staging/proxy-secret";
  const functions = staging.ofType<Function>("AWS::Lambda::Function").map(({ properties }) => properties);
  const readers = functions.filter(({ Role }) =>
    permissionsOf(Role, staging).some((permission) => permission.endsWith(` ${parameter}`)),
  );
  expect(readers.map(({ FunctionName }) => FunctionName)).toEqual(["breach-monitor-staging-authorize"]);
  const ofAuthorizer = readers.flatMap(({ Role }) => permissionsOf(Role, staging));
  expect(ofAuthorizer.filter((permission) => permission.includes("ssm:"))).toEqual([
    `ssm:GetParameter ${parameter}`,
  ]);
  const told = functions.filter(({ Environment }) => JSON.stringify(Environment).includes("proxy-secret"));
  expect(told).toEqual(readers);
  expect(told[0]?.Environment.Variables.TRUSTED_PROXY_SECRET_PARAMETER).toBe(
    "/breach-monitor/staging/proxy-secret",
  );
});

test("access logs name the viewer, where an option trusts a proxy", () => {
  type Stage = { AccessLogSetting: { Format: string } };
  const fieldsOf = (assembly: Assembly) =>
    JSON.parse(assembly.ofType<Stage>("AWS::ApiGateway::Stage")[0]?.properties.AccessLogSetting.Format ?? "");
  const refused = (assembly: Assembly) =>
    assembly
      .ofType<{ Name: string; QueryString: string }>("AWS::Logs::QueryDefinition")
      .find(({ properties }) => properties.Name.endsWith("/refused-requests"))?.properties.QueryString;
  expect(fieldsOf(production)).not.toHaveProperty("viewerAddress");
  expect(refused(production)).not.toContain("viewerAddress");
  expect(fieldsOf(staging)).toMatchObject({
    sourceIp: "$context.identity.sourceIp",
    viewerAddress: "$context.authorizer.viewerAddress",
  });
  expect(refused(staging)).toContain("by sourceIp, viewerAddress, resource, status");
});

test("with an alarm address every alarm notifies it, also when the alarm is over", () => {
  expect(staging.ofType("AWS::SNS::Subscription")).toMatchObject([
    { properties: { Protocol: "email", Endpoint: "oncall@example.com" } },
  ]);
  const topics = staging.ofType("AWS::SNS::Topic").map(({ logicalId }) => staging.physicalId(logicalId));
  for (const { properties } of staging.ofType<Alarm>("AWS::CloudWatch::Alarm")) {
    expect(properties.AlarmActions).toEqual(topics);
    expect(properties.OKActions).toEqual(topics);
  }
});

test("with a sender the functions that use e-mail may send from that address only", () => {
  for (const { name, contract } of contracts) {
    const { Environment, Role } = named<{
      Environment: { Variables: Record<string, string> };
      Role: string;
    }>(staging, "AWS::Lambda::Function", "FunctionName", `breach-monitor-staging-${name}`);
    const sending = statementsOf(Role, staging).filter(({ Action }) =>
      [Action].flat().some((action) => action.startsWith("ses:")),
    );
    const uses = contract.uses.includes("email") || contract.uses.includes("email-confirmation");
    const knows = uses || contract.uses.includes("mail-setting");
    expect(Environment.Variables.SENDER_EMAIL).toBe(knows ? "alerts@mail.example.com" : undefined);
    expect(sending).toEqual(
      uses
        ? [
            {
              Effect: "Allow",
              Action: "ses:SendEmail",
              Resource: ["identity/*", "configuration-set/breach-monitor-staging-mail"].map(
                (resource) => `arn:aws:ses:us-east-1:000000000000:${resource}`,
              ),
              Condition: { StringEquals: { "ses:FromAddress": "alerts@mail.example.com" } },
            },
          ]
        : [],
    );
  }
  expect(staging.ofType("AWS::SES::ConfigurationSet").map(({ properties }) => properties)).toEqual([
    {
      Name: "breach-monitor-staging-mail",
      SuppressionOptions: { SuppressedReasons: ["BOUNCE", "COMPLAINT"] },
    },
  ]);
  expect(() => synthesize("nobody", { senderEmail: "not an address" })).toThrow(/senderEmail must be/);
});

test("a name of its own leads to the stage, with the same paths", () => {
  expect(production.ofType("AWS::ApiGateway::DomainName")).toEqual([]);
  expect(production.outputs().DashboardUrl).toBe("https://local.execute-api.us-east-1.amazonaws.com/api/app");
  expect(staging.ofType<Properties>("AWS::ApiGateway::DomainName")).toMatchObject([
    {
      properties: {
        DomainName: "breaches.example.com",
        RegionalCertificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
        SecurityPolicy: "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09",
        EndpointAccessMode: "STRICT",
        EndpointConfiguration: { Types: ["REGIONAL"] },
      },
    },
  ]);
  expect(staging.ofType<Properties>("AWS::ApiGateway::BasePathMapping")).toMatchObject([
    { properties: { BasePath: "api", RestApiId: "local", Stage: "api" } },
  ]);
  expect(staging.outputs()).toMatchObject({
    ApiUrl: "https://breaches.example.com/api/v1",
    DashboardUrl: "https://breaches.example.com/api/app",
    DomainTarget: expect.stringMatching(/RegionalDomainName$/),
  });
});

test.each([
  ["breaches.example.com", undefined],
  [undefined, "arn:aws:acm:us-east-1:000000000000:certificate/1"],
  ["https://breaches.example.com", "arn:aws:acm:us-east-1:000000000000:certificate/1"],
  ["breaches.example.com", "certificate"],
])("the domain %s with the certificate %s is refused", (name, certificateArn) => {
  expect(() => readDomain(name, certificateArn)).toThrow(/^(?:domainName|certificateArn) must be/);
});

test("the same sources give the same bundles, byte by byte", async () => {
  const again = mkdtempSync(join(tmpdir(), "stack-test-bundles-"));
  try {
    await bundleFunctions(again);
    for (const folder of folders) {
      const [first, second] = [join(directory, "bundles"), again].map((each) =>
        readFileSync(join(each, folder, "index.js")),
      );
      expect(first?.equals(second as Buffer), folder).toBe(true);
    }
  } finally {
    rmSync(again, { recursive: true });
  }
});
