/** The synthesized template, read as CloudFormation reads it, against the contracts it is derived from. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { App } from "aws-cdk-lib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "../../functions/routes.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../../functions/workers.ts";
import { type Bundles, bundleFunctions, folders } from "../../lib/bundle.ts";
import { ServiceStack } from "../../lib/service-stack.ts";
import { type Assembly, openAssembly } from "../../local/assembly.ts";
import { refusals } from "../../shared/api/errors.ts";
import { messages } from "../../shared/queue/messages.ts";

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
  Dimensions: { Value: string }[];
  MetricName: string;
  Period: number;
  AlarmActions?: string[];
  OKActions?: string[];
};

const environment = { region: "us-east-1", accountId: "000000000000" };
const directory = mkdtempSync(join(tmpdir(), "stack-test-"));
const stackName = "breach-monitor-production";
let bundles: Bundles;
let production: Assembly;
/** With alarms and alerts by e-mail. */
let staging: Assembly;
/** With a table that is there already. */
let restored: Assembly;

beforeAll(async () => {
  bundles = await bundleFunctions(join(directory, "bundles"));
  production = synthesize("production");
  staging = synthesize("staging", {
    alarmEmail: "oncall@example.com",
    senderEmail: "alerts@mail.example.com",
  });
  restored = synthesize("restored", { tableName: "Kept.table_2-restored" });
}, 60_000);
afterAll(() => rmSync(directory, { recursive: true }));

function synthesize(
  stage: string,
  {
    alarmEmail,
    senderEmail,
    tableName,
  }: { alarmEmail?: string; senderEmail?: string; tableName?: string } = {},
): Assembly {
  const app = new App({ outdir: join(directory, `cdk.out-${stage}`) });
  new ServiceStack(app, `breach-monitor-${stage}`, { bundles, alarmEmail, senderEmail, tableName });
  app.synth();
  return openAssembly(join(directory, `cdk.out-${stage}`), environment);
}

const workers = [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers];
const contracts = [
  { name: "authorize", contract: { uses: ["table:read", "table:limits"], timeoutSeconds: 10 } },
  { name: "refuse-route", contract: { uses: [] } },
  ...routes.map(({ name, endpoint }) => ({ name, contract: endpoint })),
  ...workers.map(({ name, worker }) => ({ name, contract: worker })),
] as readonly {
  name: string;
  contract: {
    uses: readonly string[];
    timeoutSeconds?: number;
    memoryMegabytes?: number;
    queue?: string;
    recursive?: boolean;
    takesMeanwhile?: boolean;
  };
}[];

const queueArn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${stackName}-${name}`;
const tableArn = () => production.arn(production.ofType("AWS::DynamoDB::Table")[0]?.logicalId ?? "");

/** What a word of `uses` may come to, said a second time and independently. */
function allowedBy(use: string): string[] {
  const secretArn = production.arn(production.ofType("AWS::SecretsManager::Secret")[0]?.logicalId ?? "");
  const [kind, name] = use.split(":");
  const on = (resource: string, ...actions: string[]) => actions.map((action) => `${action} ${resource}`);
  if (use === "table:read") {
    return on(tableArn(), "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query");
  }
  if (use === "table:write") {
    const writes = ["PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"];
    return on(tableArn(), ...writes.map((action) => `dynamodb:${action}`));
  }
  if (use === "table:limits") return on(tableArn(), "dynamodb:UpdateItem");
  if (use === "table:due-index") return on(`${tableArn()}/index/due`, "dynamodb:Query");
  if (kind === "queue") return on(queueArn(name ?? ""), "sqs:SendMessage");
  if (use === "hibp") return on(secretArn, "secretsmanager:GetSecretValue");
  // Without a sender there is nothing to use.
  if (use === "email") return [];
  throw new Error(`Unknown use ${use}`);
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
    TracingConfig: { Mode: string };
  }>(production, "AWS::Lambda::Function", "FunctionName", `${stackName}-${name}`);

/** "action resource" of everything that a role may do. */
const permissionsOf = (roleArn: string, assembly = production): string[] =>
  statementsOf(roleArn, assembly).flatMap(({ Action, Resource }) =>
    [Action].flat().flatMap((action) => [Resource].flat().map((resource) => `${action} ${resource}`)),
  );

/** What a role may do. Fails on anything but plain inline Allow statements. */
function statementsOf(roleArn: string, assembly = production): Statement[] {
  const roleId = assembly.logicalIdOf(roleArn) ?? "";
  const role = assembly.resource(roleId);
  expect(role.properties.ManagedPolicyArns).toBeUndefined();
  expect(role.properties.Policies).toBeUndefined();
  const statements = assembly
    .ofType<{ Roles: string[]; PolicyDocument: { Statement: Statement[] } }>("AWS::IAM::Policy")
    .filter(({ properties }) => properties.Roles.includes(assembly.physicalId(roleId)))
    .flatMap(({ properties }) => properties.PolicyDocument.Statement);
  for (const { Effect } of statements) expect(Effect).toBe("Allow");
  return statements;
}

describe.each(contracts)("function $name", ({ name, contract }) => {
  test("may do exactly what its contract says", () => {
    const logs = `arn:aws:logs:us-east-1:000000000000:log-group:/aws/lambda/${stackName}-${name}:*`;
    const expected = new Set([
      `logs:CreateLogStream ${logs}`,
      `logs:PutLogEvents ${logs}`,
      "xray:PutTraceSegments *",
      "xray:PutTelemetryRecords *",
      ...contract.uses.flatMap(allowedBy),
    ]);
    if (contract.queue !== undefined) {
      for (const action of ["ReceiveMessage", "DeleteMessage", "GetQueueAttributes"]) {
        expected.add(`sqs:${action} ${queueArn(contract.queue)}`);
      }
    }
    expect(new Set(permissionsOf(functionNamed(name).Role))).toEqual(expected);
  });

  test("runs as its contract says", () => {
    expect(functionNamed(name)).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Timeout: contract.timeoutSeconds ?? 10,
      MemorySize: contract.memoryMegabytes ?? 256,
      TracingConfig: { Mode: "Active" },
      Handler: "index.handler",
    });
    expect(functionNamed(name).RecursiveLoop).toBe(contract.recursive ? "Allow" : undefined);
  });

  test("has no secret in its environment, and only what it uses", () => {
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
        ...(name === "refuse-route" ? ["DECLARED_METHODS"] : []),
        ...(contract.takesMeanwhile ? ["SOURCE_QUEUE_URL"] : []),
        ...queues,
      ]),
    );
  });

  test("keeps its log for 90 days", () => {
    expect(
      named(production, "AWS::Logs::LogGroup", "LogGroupName", `/aws/lambda/${stackName}-${name}`),
    ).toMatchObject({ RetentionInDays: 90 });
  });
});

test("who only counts requests may update rows of limits, and write no other; nothing else depends on conditions", () => {
  const conditional = contracts.flatMap(({ name }) =>
    statementsOf(functionNamed(name).Role)
      .filter(({ Condition }) => Condition !== undefined)
      .map((statement) => ({ name, ...statement })),
  );
  expect(conditional).toEqual(
    ["authorize", "preview-import"].map((name) => ({
      name,
      Effect: "Allow",
      Action: "dynamodb:UpdateItem",
      Resource: tableArn(),
      Condition: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": "LIMIT#*" } },
    })),
  );
  const writing = (name: string) =>
    permissionsOf(functionNamed(name).Role).filter((permission) =>
      /^dynamodb:(Put|Update|Delete|Cond)/.test(permission),
    );
  for (const { name } of conditional) expect(writing(name)).toEqual([`dynamodb:UpdateItem ${tableArn()}`]);
});

test("refused routes know every declared method", () => {
  const declared = JSON.parse(functionNamed("refuse-route").Environment.Variables.DECLARED_METHODS ?? "");
  const entries = Object.entries<string[]>(declared);
  expect(entries.flatMap(([path, methods]) => methods.map((method) => `${method} ${path}`)).sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path}`).sort(),
  );
});

test("there is no function beside those of the tables", () => {
  const names = production.ofType<{ FunctionName: string }>("AWS::Lambda::Function");
  expect(names.map(({ properties }) => properties.FunctionName).sort()).toEqual(
    contracts.map(({ name }) => `${stackName}-${name}`).sort(),
  );
});

test("no policy allows all actions of a service, or any action on everything but traces", () => {
  const policies = production.ofType<{ PolicyDocument: { Statement: Statement[] } }>("AWS::IAM::Policy");
  for (const { Action, Resource } of policies.flatMap(
    ({ properties }) => properties.PolicyDocument.Statement,
  )) {
    const actions = [Action].flat();
    expect(actions.filter((action) => action.includes("*"))).toEqual([]);
    if ([Resource].flat().includes("*")) {
      expect(actions.every((action) => action.startsWith("xray:"))).toBe(true);
    }
  }
});

const alarmsOn = (dimension: string) =>
  production
    .ofType<Alarm>("AWS::CloudWatch::Alarm")
    .map(({ properties }) => properties)
    .filter(({ Dimensions }) => Dimensions.some(({ Value }) => Value === dimension));

test("every queue has a worker", () => {
  expect(queueWorkers.map(({ worker }) => worker.queue).sort()).toEqual(Object.keys(messages).sort());
});

describe.each(queueWorkers)("queue of $name", ({ name, worker }) => {
  const queue = () =>
    named<{
      VisibilityTimeout: number;
      RedrivePolicy: { deadLetterTargetArn: string; maxReceiveCount: number };
    }>(production, "AWS::SQS::Queue", "QueueName", `${stackName}-${worker.queue}`);

  test("hides messages for six times the function's timeout", () => {
    expect(queue().VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.timeoutSeconds);
  });

  test("has a dead-letter queue of 14 days, whose alarm says what people notice", () => {
    const { deadLetterTargetArn, maxReceiveCount } = queue().RedrivePolicy;
    expect(deadLetterTargetArn).toBe(queueArn(`${worker.queue}-dead-letters`));
    expect(maxReceiveCount).toBe(5);
    const deadLetters = `${stackName}-${worker.queue}-dead-letters`;
    expect(named(production, "AWS::SQS::Queue", "QueueName", deadLetters)).toMatchObject({
      MessageRetentionPeriod: 1_209_600,
    });
    expect(alarmsOn(deadLetters)).toMatchObject([
      { AlarmDescription: worker.impact, Threshold: 0, ComparisonOperator: "GreaterThanThreshold" },
    ]);
  });

  test("feeds its function one message at a time, so that what fails is the function's failure", () => {
    const sources = production
      .ofType<{ EventSourceArn: string }>("AWS::Lambda::EventSourceMapping")
      .map(({ properties }) => properties)
      .filter(({ EventSourceArn }) => EventSourceArn === queueArn(worker.queue));
    expect(sources).toMatchObject([
      {
        FunctionName: `${stackName}-${name}`,
        BatchSize: 1,
        ScalingConfig: { MaximumConcurrency: worker.maximumConcurrency },
      },
    ]);
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

describe.each(workers)("alarm of $name", ({ name, worker }) => {
  test("goes off when the function fails and says what people notice", () => {
    const alarms = alarmsOn(`${stackName}-${name}`).filter(({ MetricName }) => MetricName === "Errors");
    expect(alarms).toMatchObject([
      { AlarmDescription: worker.impact, Threshold: 0, TreatMissingData: "notBreaching" },
    ]);
  });
});

test("an alarm goes off when Scheduler gives up an organization's schedule", () => {
  expect(alarmsOn(`${stackName}-scheduled-scans`)).toMatchObject([
    {
      AlarmDescription: onDemandWorkers[0]?.worker.impact,
      Namespace: "AWS/Scheduler",
      MetricName: "InvocationDroppedCount",
      Dimensions: [{ Name: "ScheduleGroup" }],
      Statistic: "Sum",
      Threshold: 0,
      ComparisonOperator: "GreaterThanThreshold",
      TreatMissingData: "notBreaching",
    },
  ]);
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

  const alarmsOf = (metric: string) =>
    alarmsOn(`${stackName}-${name}`).filter(({ MetricName }) => MetricName === metric);

  test("has an alarm that goes off when Lambda gives up a run", () => {
    expect(alarmsOf("AsyncEventsDropped")).toMatchObject([
      {
        AlarmDescription: worker.impact,
        Namespace: "AWS/Lambda",
        Dimensions: [{ Name: "FunctionName" }],
        Threshold: 0,
        ComparisonOperator: "GreaterThanThreshold",
        Statistic: "Sum",
        TreatMissingData: "notBreaching",
      },
    ]);
  });

  test("has an alarm that goes off when the function does not run at all", () => {
    expect(alarmsOf("Invocations")).toMatchObject([
      {
        AlarmDescription: worker.impact,
        Threshold: 1,
        ComparisonOperator: "LessThanThreshold",
        Statistic: "Sum",
        TreatMissingData: "breaching",
      },
    ]);
  });

  test("has alarms over more than the time between two runs, so that they stay as they are in between", () => {
    const periods = alarmsOn(`${stackName}-${name}`).map(({ Period }) => Period);
    expect(periods).toHaveLength(3);
    for (const period of periods) expect(period).toBeGreaterThan(worker.everyMinutes * 60);
  });

  test("may invoke its function and leave dead letters, nothing else", () => {
    const { Target } = schedule();
    expect(permissionsOf(Target.RoleArn).sort()).toEqual([
      `lambda:InvokeFunction ${Target.Arn}`,
      `sqs:SendMessage ${queueArn(`${name}-dead-letters`)}`,
    ]);
    expect(alarmsOn(`${stackName}-${name}-dead-letters`)).toMatchObject([
      { AlarmDescription: worker.impact },
    ]);
  });
});

test("schedules that are made at run time may invoke one function, from the stack's group only", () => {
  const outputs = production.outputs();
  const roleArn = outputs.ScheduledScanRoleArn ?? "";
  expect(permissionsOf(roleArn)).toEqual([`lambda:InvokeFunction ${outputs.ScheduledScanFunctionArn}`]);
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

test("the table is hard to lose", () => {
  const template = JSON.parse(
    readFileSync(join(directory, "cdk.out-production", `${stackName}.template.json`), "utf8"),
  ) as { Resources: Record<string, { Type: string; DeletionPolicy?: string; Properties: object }> };
  const tables = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::DynamoDB::Table");
  expect(tables).toMatchObject([
    {
      DeletionPolicy: "Retain",
      UpdateReplacePolicy: "Retain",
      Properties: {
        DeletionProtectionEnabled: true,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        BillingMode: "PAY_PER_REQUEST",
        TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
        GlobalSecondaryIndexes: [{ IndexName: "due", Projection: { ProjectionType: "KEYS_ONLY" } }],
      },
    },
  ]);
});

describe("with the name of a table", () => {
  const tableName = "Kept.table_2-restored";

  test("the stack makes none, and its functions, the admin command line and permissions use that one", () => {
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

  test("everything else is as without", () => {
    const template = (stage: string) => {
      const file = join(directory, `cdk.out-${stage}`, `breach-monitor-${stage}.template.json`);
      const { Resources } = JSON.parse(readFileSync(file, "utf8")) as {
        Resources: Record<string, { Type: string }>;
      };
      return Object.values(Resources).map(({ Type }) => Type);
    };
    expect(["AWS::DynamoDB::Table", ...template("restored")].sort()).toEqual(template("production").sort());
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
    Integration: { Uri: string; Type: string };
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

  test("every method passes the one authorizer", () => {
    const [authorizer] = production.ofType("AWS::ApiGateway::Authorizer");
    expect(methods().length).toBeGreaterThan(routes.length);
    for (const method of methods()) {
      expect(method.AuthorizationType).toBe("CUSTOM");
      expect(method.AuthorizerId).toBe(production.physicalId(authorizer?.logicalId ?? ""));
      expect(method.Integration.Type).toBe("AWS_PROXY");
    }
  });

  test("takes TLS from 1.2 on, with forward secrecy, from clients of its own endpoint only", () => {
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

  test("the authorizer is asked for every request: no cache, no identity source that could answer for it", () => {
    const authorizers = production.ofType<Properties>("AWS::ApiGateway::Authorizer");
    expect(authorizers).toMatchObject([{ properties: { Type: "REQUEST", AuthorizerResultTtlInSeconds: 0 } }]);
    expect(authorizers[0]?.properties.IdentitySource ?? "").toBe("");
  });

  test("every route leads to its function", () => {
    const declared = methods().filter(({ HttpMethod }) => HttpMethod !== "ANY");
    expect(declared.map(({ request, functionName }) => `${request} ${functionName}`).sort()).toEqual(
      routes.map(({ method, path, name }) => `${method} /v1${path} ${stackName}-${name}`).sort(),
    );
  });

  test("everything else leads to the function that refuses", () => {
    const paths = new Set(["/v1", "/v1/{proxy+}"]);
    for (const { path } of routes) {
      const parts = path.split("/").slice(1);
      for (const [index] of parts.entries()) paths.add(`/v1/${parts.slice(0, index + 1).join("/")}`);
    }
    const any = methods().filter(({ HttpMethod }) => HttpMethod === "ANY");
    expect(any.map(({ request }) => request).sort()).toEqual([...paths].map((path) => `ANY ${path}`).sort());
    expect(new Set(any.map(({ functionName }) => functionName))).toEqual(
      new Set([`${stackName}-refuse-route`]),
    );
  });

  test("what the gateway answers by itself has the contract's form", () => {
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

  test("access logs hold no path, query string or header", () => {
    const [stage] = production.ofType<{ AccessLogSetting: { Format: string } }>("AWS::ApiGateway::Stage");
    const format = stage?.properties.AccessLogSetting.Format ?? "";
    expect(Object.keys(JSON.parse(format))).toContain("requestId");
    expect(format).not.toMatch(/\$context\.path|querystring|header|authorization|userAgent/i);
  });

  test("only this API may invoke its functions", () => {
    const permissions = production.ofType<{ SourceArn?: string }>("AWS::Lambda::Permission");
    expect(permissions.length).toBeGreaterThan(routes.length);
    for (const { properties } of permissions) {
      expect(properties.SourceArn).toMatch(/^arn:aws:execute-api:us-east-1:000000000000:local\//);
    }
  });
});

test("two stages have no name in common, so that they can live in one account", () => {
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

test("with an address every alarm notifies it, also when it is over", () => {
  expect(staging.ofType("AWS::SNS::Subscription")).toMatchObject([
    { properties: { Protocol: "email", Endpoint: "oncall@example.com" } },
  ]);
  const topics = staging.ofType("AWS::SNS::Topic").map(({ logicalId }) => staging.arn(logicalId));
  for (const { properties } of staging.ofType<Alarm>("AWS::CloudWatch::Alarm")) {
    expect(properties.AlarmActions).toEqual(topics);
    expect(properties.OKActions).toEqual(topics);
  }
});

test("with a sender the functions that use e-mail may send from it only, to whatever identity of SES a recipient is", () => {
  for (const { name, contract } of contracts) {
    const { Environment, Role } = named<{
      Environment: { Variables: Record<string, string> };
      Role: string;
    }>(staging, "AWS::Lambda::Function", "FunctionName", `breach-monitor-staging-${name}`);
    const role = staging.physicalId(staging.logicalIdOf(Role) ?? "");
    const sending = staging
      .ofType<{ Roles: string[]; PolicyDocument: { Statement: Statement[] } }>("AWS::IAM::Policy")
      .filter(({ properties }) => properties.Roles.includes(role))
      .flatMap(({ properties }) => properties.PolicyDocument.Statement)
      .filter(({ Action }) => [Action].flat().some((action) => action.startsWith("ses:")));
    const uses = contract.uses.includes("email");
    expect(Environment.Variables.SENDER_EMAIL).toBe(uses ? "alerts@mail.example.com" : undefined);
    expect(sending).toEqual(
      uses
        ? [
            {
              Effect: "Allow",
              Action: "ses:SendEmail",
              Resource: ["identity", "configuration-set"].map(
                (resource) => `arn:aws:ses:us-east-1:000000000000:${resource}/*`,
              ),
              Condition: { StringEquals: { "ses:FromAddress": "alerts@mail.example.com" } },
            },
          ]
        : [],
    );
  }
  expect(() => synthesize("nobody", { senderEmail: "not an address" })).toThrow(/senderEmail must be/);
});

test("the same sources give the same bytes", async () => {
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
}, 60_000);
