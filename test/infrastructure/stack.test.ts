/**
 * What the template must be, by what would go wrong otherwise. That functions get what they need, tests of
 * the running service show.
 */
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { everyRoute } from "../../functions/parts.ts";
import { scim } from "../../functions/scim/endpoint.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../../functions/workers.ts";
import { readOptions } from "../../lib/options.ts";
import { throttlesOf } from "../../lib/throttle.ts";
import { webAclLimit } from "../../lib/web-acl.ts";
import { decide, type Statement } from "../../local/iam/policy.ts";
import type { Assembly } from "../../local/template/assembly.ts";
import { retryDelaySeconds } from "../../shared/aws/queue/consume.ts";
import { askedBy } from "../../shared/contract/endpoint.ts";
import { perMinute, perMinuteOfEndpoint } from "../../shared/contract/limits.ts";
import { messages } from "../../shared/contract/messages.ts";
import {
  documentOf,
  functionIn,
  functionNamed,
  functionsOf,
  methodsOf,
  permissionsOf,
  propertiesOf,
  statementsOf,
  synthesize,
} from "./stacks.ts";

const production = synthesize("production");
const proxySecretHash = "0123456789abcdef".repeat(4);
/**
 * Has everything that can be chosen: alarms and alerts by e-mail, a name of its own, a web ACL, a trusted
 * proxy, an identity provider.
 */
const staging = synthesize("staging", {
  alarmEmail: "oncall@example.com",
  senderEmail: "alerts@mail.example.com",
  domainName: "breaches.example.com",
  certificateArn: "arn:aws:acm:us-east-1:000000000000:certificate/1",
  requestsPerSecond: "200",
  monthlyBudgetDollars: "50",
  webAcl: "true",
  confirmRecipients: "true",
  tableEncryption: "aws-managed",
  gatewayContextHeaders: false,
  hibpContact: "security@acme.example",
  trustedProxySecretSha256: proxySecretHash,
  oidcIssuer: "https://acme.okta.com",
  oidcClientId: "0oa1b2c3",
  oidcEmailClaim: "preferred_username",
  oidcRequire: "hd=acme.com",
  oidcJoin: "member",
});
/** Costs as little as possible while idle. */
const cheapest = synthesize("cheapest", { alarms: "minimal" });

const { stackName } = production;
const workers = [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers];

/** What contracts say of each function; the last three have none. */
const contracts: readonly { name: string; contract: { uses: readonly string[]; timeoutSeconds?: number } }[] =
  [
    ...everyRoute.map(({ name, endpoint }) => ({ name, contract: endpoint })),
    ...workers.map(({ name, worker }) => ({ name, contract: worker })),
    { name: "authorize", contract: { uses: ["table:read", "table:limits", "table:credentials"] } },
    { name: "refuse-route", contract: { uses: [] } },
    { name: "scim", contract: scim },
    { name: "serve-dashboard", contract: { uses: [] } },
  ];

const queueArn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${stackName}-${name}`;
const roleOf = (name: string) => functionNamed(production, name).Role;
const outputs = production.outputs();

/** The functions whose permissions on a service have this form. */
const functionsWith = (permission: RegExp, stack: Assembly = production): string[] =>
  [...functionsOf(stack)]
    .filter(([, { Role }]) => permissionsOf(stack, Role).some((each) => permission.test(each)))
    .map(([name]) => name)
    .sort();
const using = (...words: string[]): string[] =>
  contracts
    .filter(({ contract }) => contract.uses.some((use) => words.some((word) => use.startsWith(word))))
    .map(({ name }) => name)
    .sort();

describe("permissions", () => {
  test("no policy allows all actions of a service, or has all resources", () => {
    expect(production.ofType("AWS::IAM::Policy")).toEqual([]);
    const policies = propertiesOf<{ Policies?: { PolicyDocument: { Statement: Statement[] } }[] }>(
      production,
      "AWS::IAM::Role",
    ).flatMap(({ Policies = [] }) => Policies);
    for (const { Effect, Action = [], Resource = [] } of policies.flatMap(
      (each) => each.PolicyDocument.Statement,
    )) {
      if (Effect === "Deny") continue;
      expect([Action].flat()).not.toEqual([]);
      expect([Resource].flat()).not.toEqual([]);
      expect([Action].flat().filter((action) => action.includes("*"))).toEqual([]);
      expect([Resource].flat()).not.toContain("*");
    }
  });

  test("four functions have the key of alert channels, none can replace it", () => {
    const names = ["change-alert-config", "create-alert-config", "deliver-alert", "retry-alert"];
    expect(functionsWith(/^ssm:.*\/channel-key$/)).toEqual(names);
    for (const name of names) {
      const statements = statementsOf(production, roleOf(name)).filter(({ Action }) =>
        String(Action).includes("ssm:"),
      );
      expect(statements).toMatchObject([
        { Condition: { StringEqualsIfExists: { "ssm:Overwrite": "false" } } },
      ]);
    }
  });

  test("one function passes on a role, to EventBridge Scheduler only", () => {
    expect(functionsWith(/^iam:/)).toEqual(["change-organization"]);
    const statements = statementsOf(production, roleOf("change-organization"));
    expect(statements.filter(({ Action }) => String(Action).startsWith("iam:"))).toMatchObject([
      {
        Action: "iam:PassRole",
        Resource: outputs.ScheduledScanRoleArn,
        Condition: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
      },
    ]);
  });

  test("functions that use e-mail may send from the sender's address only", () => {
    const names = using("email");
    expect(functionsWith(/^ses:/)).toEqual([]);
    expect(functionsWith(/^ses:/, staging)).toEqual(names);
    for (const name of names) {
      const { Role, Environment } = functionNamed(staging, name);
      const sending = statementsOf(staging, Role).filter(({ Action }) => String(Action).startsWith("ses:"));
      expect(sending).toMatchObject([
        {
          Action: "ses:SendEmail",
          Condition: { StringEquals: { "ses:FromAddress": "alerts@mail.example.com" } },
        },
      ]);
      expect(Environment.Variables.SENDER_EMAIL).toBe("alerts@mail.example.com");
    }
    expect(propertiesOf(staging, "AWS::SES::ConfigurationSet")).toMatchObject([
      { SuppressionOptions: { SuppressedReasons: ["BOUNCE", "COMPLAINT"] } },
    ]);
    expect(() => synthesize("nobody", { senderEmail: "not an address" })).toThrow(/senderEmail must be/);
  });

  test("the hash of a proxy's secret is told where addresses count", () => {
    const told = [...functionsOf(staging)].filter(([, { Environment }]) =>
      JSON.stringify(Environment).includes(proxySecretHash),
    );
    expect(told.map(([name]) => name).sort()).toEqual(["authorize", "scim"]);
  });

  test("only the function that redeems codes reads the client secret", () => {
    const parameter = "/breach-monitor/breach-monitor-staging/oidc-client-secret";
    const permission = new RegExp(
      `^ssm:GetParameter arn:aws:ssm:us-east-1:000000000000:parameter${parameter}$`,
    );
    expect(functionsWith(permission, staging)).toEqual(["redeem-provider-code"]);
    expect(functionNamed(staging, "redeem-provider-code").Environment.Variables).toMatchObject({
      OIDC_CLIENT_SECRET_PARAMETER: parameter,
      OIDC_EMAIL_CLAIM: "preferred_username",
      OIDC_REQUIRE: "hd=acme.com",
    });
    expect(JSON.stringify([...functionsOf(production)])).not.toContain("OIDC");
  });

  test("API Gateway may invoke functions of its methods only, by one role", () => {
    const methods = methodsOf(production);
    const [role = "", ...others] = new Set(methods.map(({ integration }) => integration.credentials));
    expect(others).toEqual([]);
    const { authorizer } = documentOf(production).components.securitySchemes;
    expect(authorizer?.["x-amazon-apigateway-authorizer"]).toMatchObject({ authorizerCredentials: role });
    const statements = statementsOf(production, role);
    const functions = production
      .ofType("AWS::Lambda::Function")
      .map(({ logicalId }) => production.arn(logicalId));
    const invocable = functions.filter((arn) => decide(statements, "lambda:InvokeFunction", arn) === "allow");
    const edge = ["authorize", "refuse-route", "scim", "serve-dashboard"];
    expect(invocable.map((arn) => arn.split(`:${stackName}-`)[1]).sort()).toEqual(
      [...everyRoute.map(({ name }) => name), ...edge].sort(),
    );
    const foreign = "arn:aws:lambda:us-east-1:000000000000:function:other";
    expect(decide(statements, "lambda:InvokeFunction", foreign)).toBe("no match");
    const trust = production.resource(production.logicalIdOf(role) ?? "").properties.AssumeRolePolicyDocument;
    // API Gateway sends no `aws:SourceAccount` here: a condition on it would refuse every request.
    expect(trust).not.toHaveProperty(["Statement", 0, "Condition"]);
    expect(propertiesOf(production, "AWS::Lambda::Permission")).toEqual([]);
  });

  test("functions that may do the same share one role, which describes that", () => {
    const isOfLogs = ({ Action = [] }: Statement) => [Action].flat().includes("logs:PutLogEvents");
    const sets = Map.groupBy(functionsOf(production).values(), ({ Role }) =>
      JSON.stringify(statementsOf(production, Role).filter((statement) => !isOfLogs(statement))),
    );
    for (const [permissions, functions] of sets) {
      expect(new Set(functions.map(({ Role }) => Role)).size, permissions).toBe(1);
    }
    const descriptions = propertiesOf<{ Description?: string }>(production, "AWS::IAM::Role").flatMap(
      ({ Description = [] }) => Description,
    );
    expect(descriptions).toContain("May table:read");
    expect(new Set(descriptions).size).toBe(descriptions.length);
  });

  test("run-time schedules may invoke one function, from the stack's group", () => {
    const roleArn = outputs.ScheduledScanRoleArn ?? "";
    expect(permissionsOf(production, roleArn)).toEqual([
      `lambda:InvokeFunction ${outputs.ScheduledScanFunctionArn}`,
      `sqs:SendMessage ${queueArn("dead-letters")}`,
    ]);
    const trust = production.resource(production.logicalIdOf(roleArn) ?? "").properties
      .AssumeRolePolicyDocument;
    expect(trust).toHaveProperty(
      ["Statement", 0, "Condition", "StringEquals", "aws:SourceArn"],
      `arn:aws:scheduler:us-east-1:000000000000:schedule-group/${outputs.ScheduleGroupName}`,
    );
  });
});

describe("functions", () => {
  test("are those of routes, workers, the page and the edge", () => {
    expect([...functionsOf(production).keys()].sort()).toEqual(contracts.map(({ name }) => name).sort());
  });

  test.each(contracts)("$name runs on Node 24 for as long as its contract says", ({ name, contract }) => {
    expect(functionNamed(production, name)).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      Timeout: contract.timeoutSeconds ?? 10,
      Handler: "index.handler",
    });
  });

  test("have no secret in their environment", () => {
    for (const [name, { Environment }] of functionsOf(staging)) {
      for (const [variable, value] of Object.entries(Environment.Variables)) {
        if (/SECRET|_KEY/.test(variable)) expect(value, `${name} ${variable}`).toMatch(/^(arn:|\/)/);
      }
    }
  });

  test("keep logs for 90 days, and let no client have its requests traced", () => {
    const groups = propertiesOf<{ LogGroupName: string; RetentionInDays: number }>(
      production,
      "AWS::Logs::LogGroup",
    );
    for (const { RetentionInDays } of groups) expect(RetentionInDays).toBe(90);
    for (const [, { LoggingConfig, TracingConfig }] of functionsOf(production)) {
      expect(groups.map(({ LogGroupName }) => LogGroupName)).toContain(LoggingConfig.LogGroup);
      expect(TracingConfig).toBeUndefined();
    }
  });

  test("may call themselves through a queue only where a contract says so", () => {
    for (const { name, worker } of workers) {
      const isRecursive = "recursive" in worker && worker.recursive;
      expect(functionNamed(production, name).RecursiveLoop).toBe(isRecursive ? "Allow" : undefined);
    }
  });

  test("have names that fit Lambda's limit with the longest name of a stage", () => {
    const names = contracts.map(({ name }) => `breach-monitor-${"s".repeat(27)}-${name}`);
    expect(Math.max(...names.map(({ length }) => length))).toBe(64);
  });
});

describe("queues", () => {
  type Queue = {
    QueueName: string;
    SqsManagedSseEnabled: boolean;
    VisibilityTimeout: number;
    MessageRetentionPeriod?: number;
    RedrivePolicy: { deadLetterTargetArn: string; maxReceiveCount: number };
  };
  const queueNamed = (name: string) =>
    propertiesOf<Queue>(production, "AWS::SQS::Queue").find(
      ({ QueueName }) => QueueName === `${stackName}-${name}`,
    ) as Queue;
  type Source = { EventSourceArn: string; ScalingConfig?: object; Enabled: boolean };
  const sourceIn = (stack: Assembly, queue: string) =>
    propertiesOf<Source>(stack, "AWS::Lambda::EventSourceMapping").find(({ EventSourceArn }) =>
      EventSourceArn.endsWith(`-${queue}`),
    ) as Source;

  test("have a worker each, and are encrypted", () => {
    expect(queueWorkers.map(({ worker }) => worker.queue).sort()).toEqual(Object.keys(messages).sort());
    for (const queue of propertiesOf<Queue>(production, "AWS::SQS::Queue")) {
      expect(queue.SqsManagedSseEnabled).toBe(true);
    }
  });

  test("leave dead letters, which are kept for 14 days", () => {
    expect(queueNamed("dead-letters").MessageRetentionPeriod).toBe(1_209_600);
    expect(outputs.DeadLettersQueueArn).toBe(queueArn("dead-letters"));
    for (const { worker } of queueWorkers) {
      expect(queueNamed(worker.queue).RedrivePolicy.deadLetterTargetArn).toBe(queueArn("dead-letters"));
    }
  });

  test.each(queueWorkers)("$name has time for a message, and gives it up within a day", ({ worker }) => {
    const { VisibilityTimeout, RedrivePolicy, MessageRetentionPeriod = 345_600 } = queueNamed(worker.queue);
    const { maxReceiveCount } = RedrivePolicy;
    expect(VisibilityTimeout).toBeGreaterThanOrEqual(6 * worker.timeoutSeconds);
    // Lambda may throttle every receive for three hours, and a worker may crash at every try.
    expect(maxReceiveCount * VisibilityTimeout).toBeGreaterThanOrEqual(3 * 3600);
    expect(maxReceiveCount * VisibilityTimeout).toBeLessThan(MessageRetentionPeriod);
    const receives = Array.from({ length: maxReceiveCount }, (_, index) => index + 1);
    const delays = receives.map((count) => retryDelaySeconds(count) + worker.timeoutSeconds);
    expect(delays.reduce((sum, delay) => sum + delay, 0)).toBeLessThan(86_400);
  });

  test.each(queueWorkers)(
    "$name gets batches of its size, where anything can be sent",
    ({ name, worker }) => {
      const { batchSize: BatchSize = 1, maximumConcurrency: MaximumConcurrency } = worker;
      const source = sourceIn(production, worker.queue);
      // Lambda polls as much as ever while runs fail, with this response type.
      const FunctionResponseTypes = ["ReportBatchItemFailures"];
      expect(source).toMatchObject({
        FunctionName: `${stackName}-${name}`,
        BatchSize,
        FunctionResponseTypes,
      });
      expect(source.ScalingConfig).toEqual(MaximumConcurrency && { MaximumConcurrency });
      expect(sourceIn(cheapest, worker.queue).ScalingConfig).toBeUndefined();
      expect(source.Enabled).toBe(name !== "mail-sign-in-link");
      expect(sourceIn(staging, worker.queue).Enabled).toBe(true);
    },
  );
});

describe("schedules", () => {
  type Schedule = { Name: string; ScheduleExpression: string; Target: { Arn: string; RoleArn: string } };

  test.each(scheduledWorkers)("$name runs at its rate, and leaves dead letters", ({ name, worker }) => {
    const schedule = propertiesOf<Schedule>(production, "AWS::Scheduler::Schedule").find(
      ({ Name }) => Name === `${stackName}-${name}`,
    ) as Schedule;
    const unit = worker.everyMinutes === 1 ? "minute" : "minutes";
    expect(schedule.ScheduleExpression).toBe(`rate(${worker.everyMinutes} ${unit})`);
    expect(schedule.Target).toMatchObject({ DeadLetterConfig: { Arn: queueArn("dead-letters") } });
    expect(permissionsOf(production, schedule.Target.RoleArn).sort()).toEqual([
      `lambda:InvokeFunction ${schedule.Target.Arn}`,
      `sqs:SendMessage ${queueArn("dead-letters")}`,
    ]);
  });

  test("a scheduled scan that cannot start in an hour becomes a dead letter", () => {
    const settings = propertiesOf<{ FunctionName: string }>(production, "AWS::Lambda::EventInvokeConfig");
    expect(settings.find(({ FunctionName }) => FunctionName.endsWith("-start-scheduled-scan"))).toMatchObject(
      {
        MaximumEventAgeInSeconds: 3600,
        MaximumRetryAttempts: 2,
        DestinationConfig: { OnFailure: { Destination: queueArn("dead-letters") } },
      },
    );
  });
});

describe("the table", () => {
  test("is protected against deletion and backed up continuously", () => {
    const tables = production.resources.filter(({ Type }) => Type === "AWS::DynamoDB::Table");
    expect(tables).toMatchObject([
      {
        DeletionPolicy: "Retain",
        UpdateReplacePolicy: "Retain",
        Properties: {
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          BillingMode: "PAY_PER_REQUEST",
          TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
        },
      },
    ]);
  });

  test("has a key in the account only where an option says so", () => {
    const encryption = (stack: Assembly) =>
      propertiesOf<{ SSESpecification?: object }>(stack, "AWS::DynamoDB::Table")[0]?.SSESpecification;
    expect(encryption(production)).toEqual({ SSEEnabled: false });
    expect(encryption(staging)).toEqual({ SSEEnabled: true });
  });

  test("can be an existing one, and nothing else changes", () => {
    const tableName = "Kept.table_2-restored";
    const restored = synthesize("production", { tableName });
    expect(restored.outputs().TableName).toBe(tableName);
    const tableArn = production.arn(production.ofType("AWS::DynamoDB::Table")[0]?.logicalId ?? "");
    const moved = (permission: string) =>
      permission.replace(tableArn, `arn:aws:dynamodb:us-east-1:000000000000:table/${tableName}`);
    for (const { name } of contracts) {
      const { Role, Environment } = functionNamed(restored, name);
      expect(permissionsOf(restored, Role)).toEqual(permissionsOf(production, roleOf(name)).map(moved));
      expect(Environment.Variables.TABLE_NAME).toBe(using("table:").includes(name) ? tableName : undefined);
    }
    const types = (stack: typeof production) => stack.resources.map(({ Type }) => Type);
    expect(["AWS::DynamoDB::Table", ...types(restored)].sort()).toEqual(types(production).sort());
  });
});

describe("REST API", () => {
  const [stage] = propertiesOf<{ AccessLogSetting: { Format: string } }>(
    production,
    "AWS::ApiGateway::Stage",
  );

  test("every method has the one authorizer, but those of the page and of SCIM", () => {
    const methods = methodsOf(production);
    expect(methods.length).toBeGreaterThan(everyRoute.length);
    for (const { path, security } of methods) {
      const isByItself = /^\/(?:$|app(?:\/|$)|scim\/v2\/)/.test(path);
      expect(security, path).toEqual(isByItself ? undefined : [{ authorizer: [] }]);
    }
  });

  test("a route invokes its function, every other method the refusing one", () => {
    const methods = methodsOf(production);
    const functionOf = (path: string, method: string) =>
      functionIn(
        production,
        methods.find((each) => each.path === path && each.method === method)?.integration.uri ?? "",
      );
    for (const { path, name, ...route } of everyRoute) {
      for (const method of askedBy({ path, name, ...route }))
        expect(functionOf(path, method.toLowerCase())).toBe(name);
      const segments = path.split("/").slice(1);
      for (const [at] of segments.entries()) {
        const above = `/${segments.slice(0, at + 1).join("/")}`;
        expect(functionOf(above, "any"), above).toBe("refuse-route");
      }
    }
    for (const part of ["v1", "dashboard"])
      expect(functionOf(`/${part}/{proxy+}`, "any")).toBe("refuse-route");
    for (const { integration } of methods)
      expect(integration).toMatchObject({ type: "aws_proxy", httpMethod: "POST" });
  });

  test("is deployed when all of its functions are there", () => {
    const [deployment] = production.resources.filter(({ Type }) => Type === "AWS::ApiGateway::Deployment");
    const named = new Set(
      methodsOf(production).map(({ integration }) => functionIn(production, integration.uri)),
    );
    const waitedFor = (deployment?.DependsOn ?? []).map((logicalId) => production.physicalId(logicalId));
    for (const name of [...named, "authorize"]) expect(waitedFor).toContain(`${stackName}-${name}`);
  });

  test("asks the authorizer for each request, without cache or identity source", () => {
    const { securitySchemes } = documentOf(production).components;
    const [scheme, ...others] = Object.values(securitySchemes);
    expect(others).toEqual([]);
    // API Gateway takes another name than this one for an identity source.
    expect(scheme).toMatchObject({ name: "Unused", "x-amazon-apigateway-authtype": "custom" });
    const authorizer = scheme?.["x-amazon-apigateway-authorizer"];
    expect(authorizer).toEqual({
      type: "request",
      authorizerUri: expect.stringMatching(/-authorize\/invocations$/),
      authorizerCredentials: expect.any(String),
      authorizerResultTtlInSeconds: 0,
    });
  });

  test("the authorizer ignores credentials on sign-in and recipient paths only", () => {
    const { Variables } = functionNamed(production, "authorize").Environment;
    const paths: string[] = JSON.parse(Variables.PATHS_FOR_ANYONE ?? "");
    for (const path of paths) expect(path).toMatch(/^\/dashboard\/(sign-in|recipients\/\{token\})(\/|$)/);
    const open = everyRoute
      .filter(({ endpoint }) => "access" in endpoint && endpoint.access === "anyone")
      .map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(open));
  });

  test("each dashboard endpoint says who may call it, and none of /api/v1 does", () => {
    for (const { name, endpoint, path } of everyRoute)
      expect([name, "access" in endpoint]).toEqual([name, path.startsWith("/dashboard/")]);
  });

  test("takes only TLS 1.2 or newer with forward secrecy, at its own endpoint", () => {
    const strict = {
      SecurityPolicy: "SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09",
      EndpointAccessMode: "STRICT",
    };
    expect(propertiesOf(production, "AWS::ApiGateway::RestApi")).toMatchObject([strict]);
    expect(propertiesOf(staging, "AWS::ApiGateway::DomainName")).toMatchObject([strict]);
  });

  test("answers errors of the gateway itself in the contract's form", () => {
    const responses = documentOf(production)["x-amazon-apigateway-gateway-responses"];
    for (const { responseTemplates, responseParameters } of Object.values(responses)) {
      const [body = "", ...others] = Object.values(responseTemplates);
      expect(others).toEqual([]);
      expect(Object.keys(JSON.parse(body.replace("$context.error.messageString", '"text"')))).toEqual([
        "error",
      ]);
      expect(responseParameters).toMatchObject({
        "gatewayresponse.header.Cache-Control": "'no-store'",
        "gatewayresponse.header.X-Request-Id": "context.extendedRequestId",
      });
    }
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["DEFAULT_4XX", "DEFAULT_5XX"]));
    for (const type of ["THROTTLED", "QUOTA_EXCEEDED"]) {
      expect(responses[type]?.responseParameters["gatewayresponse.header.Retry-After"]).toMatch(/^'\d+'$/);
    }
    const ofStaging = documentOf(staging)["x-amazon-apigateway-gateway-responses"];
    for (const { responseParameters } of Object.values(ofStaging)) {
      expect(Object.values(responseParameters).filter((value) => value.startsWith("context."))).toEqual([]);
    }
  });

  test("logs no path, query string or header, and traces no url", () => {
    expect(stage).not.toHaveProperty("TracingEnabled", true);
    const format = stage?.AccessLogSetting.Format ?? "";
    expect(Object.keys(JSON.parse(format))).toEqual(
      expect.arrayContaining(["requestId", "extendedRequestId"]),
    );
    expect(format).not.toMatch(/\$context\.path|querystring|header|authorization|userAgent/i);
  });

  test("access logs name the viewer, where an option trusts a proxy", () => {
    type Query = { Name: string; QueryString: string };
    const refused = (stack: Assembly) =>
      propertiesOf<Query>(stack, "AWS::Logs::QueryDefinition").find(({ Name }) =>
        Name.endsWith("/refused-requests"),
      );
    expect(stage?.AccessLogSetting.Format).not.toContain("viewerAddress");
    expect(refused(production)?.QueryString).not.toContain("viewerAddress");
    const [trusting] = propertiesOf<{ AccessLogSetting: { Format: string } }>(
      staging,
      "AWS::ApiGateway::Stage",
    );
    expect(JSON.parse(trusting?.AccessLogSetting.Format ?? "")).toMatchObject({
      viewerAddress: "$context.authorizer.viewerAddress",
    });
    expect(refused(staging)?.QueryString).toContain(
      "by viewerAddress, coalesce(resource, route) as path, status",
    );
  });

  test("is reached over IPv4 alone", () => {
    expect(propertiesOf(production, "AWS::ApiGateway::RestApi")).toMatchObject([
      { EndpointConfiguration: { Types: ["REGIONAL"], IpAddressType: "ipv4" } },
    ]);
  });

  test("allows each method few requests a second, or as many as options say", () => {
    type Setting = { HttpMethod: string; ResourcePath: string } & Record<string, unknown>;
    const throttle = (stack: Assembly) =>
      propertiesOf<{ MethodSettings: Setting[] }>(stack, "AWS::ApiGateway::Stage")[0]?.MethodSettings ?? [];
    const [others, ...named] = throttle(production);
    // A method that no route declares gets what all others get.
    expect(others).toMatchObject({ HttpMethod: "*", ResourcePath: "/*", ThrottlingRateLimit: 0.2 });
    const declared = [
      ...everyRoute.flatMap((route) => askedBy(route).map((method) => `${method} ${route.path}`)),
      "GET /app",
      "GET /app/{proxy+}",
      ...["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => `${method} /scim/v2/{proxy+}`),
    ];
    const nameOf = ({ HttpMethod, ResourcePath }: Setting) =>
      `${HttpMethod} ${ResourcePath.slice(1).replaceAll("~1", "/")}`;
    expect(named.map(nameOf).sort()).toEqual(declared.sort());
    const limitsOf = (part: string) =>
      named
        .filter((setting) => nameOf(setting).includes(` /${part}`))
        .map(({ ThrottlingRateLimit, ThrottlingBurstLimit }) => [ThrottlingRateLimit, ThrottlingBurstLimit]);
    expect(new Set(limitsOf("v1").map(String))).toEqual(new Set(["9,500"]));
    expect(new Set(limitsOf("dashboard").map(String))).toEqual(new Set(["4.5,500"]));
    expect(new Set(limitsOf("scim").map(String))).toEqual(new Set(["25,500"]));
    expect(new Set(limitsOf("app").map(String))).toEqual(new Set(["2.25,2000"]));
    const [ofStaging, ...namedOfStaging] = throttle(staging);
    expect(ofStaging).toMatchObject({ ThrottlingRateLimit: 200 / 45, ThrottlingBurstLimit: 500 });
    expect(Math.max(...namedOfStaging.map((each) => Number(each.ThrottlingRateLimit)))).toBe(200);
  });

  test.each([
    ["v1", perMinute.key],
    ["v1", perMinuteOfEndpoint.v1],
    ["dashboard", perMinuteOfEndpoint.dashboard],
  ] as const)("in %s %i requests a minute are at most a fifth of an endpoint's", (part, quota) => {
    const { ratePerSecond, burst } = throttlesOf(readOptions(() => undefined).requestsPerSecond)[part];
    expect(quota).toBeLessThanOrEqual((ratePerSecond * 60) / 5);
    // Whoever may make so many requests a minute may make them at once.
    expect(quota).toBeLessThanOrEqual(burst / 5);
  });

  test("with a web ACL an address is blocked before it uses up any endpoint", () => {
    expect(production.ofType("AWS::WAFv2::WebACL")).toEqual([]);
    const limit = 0.9 * 100 * 300;
    const rate = { AggregateKeyType: "IP", EvaluationWindowSec: 300, Limit: limit };
    expect(propertiesOf(staging, "AWS::WAFv2::WebACL")).toMatchObject([
      {
        DefaultAction: { Allow: {} },
        Rules: [
          { Action: { Block: {} }, Statement: { RateBasedStatement: rate } },
          { Action: { Block: {} }, Statement: { RateBasedStatement: { ...rate, Limit: 9_000 } } },
        ],
      },
    ]);
    const { requestsPerSecond } = readOptions(() => undefined);
    const leastOfEndpoint = 300 * throttlesOf(requestsPerSecond).dashboard.ratePerSecond;
    expect(webAclLimit(throttlesOf(requestsPerSecond).dashboard)).toBeLessThan(leastOfEndpoint);
    // A key's 100 requests a minute pass.
    expect(webAclLimit(throttlesOf(requestsPerSecond).dashboard)).toBeGreaterThan(5 * perMinute.key);
    expect(propertiesOf(staging, "AWS::WAFv2::WebACLAssociation")).toMatchObject([
      { ResourceArn: expect.stringMatching(/::\/restapis\/local\/stages\/api$/) },
    ]);
  });

  test("a name of its own leads to the stage, with the same paths", () => {
    expect(production.ofType("AWS::ApiGateway::DomainName")).toEqual([]);
    expect(propertiesOf(staging, "AWS::ApiGateway::DomainName")).toMatchObject([
      { DomainName: "breaches.example.com", EndpointConfiguration: { Types: ["REGIONAL"] } },
    ]);
    expect(propertiesOf(staging, "AWS::ApiGateway::BasePathMapping")).toMatchObject([
      { BasePath: "api", RestApiId: "local", Stage: "api" },
    ]);
    expect(staging.outputs()).toMatchObject({
      ApiUrl: "https://breaches.example.com/api/v1",
      DashboardUrl: "https://breaches.example.com/api/app",
      DomainTarget: expect.stringMatching(/RegionalDomainName$/),
    });
  });
});

describe("options", () => {
  test("a budget mails to the address of alarms, and is refused without one", () => {
    expect(production.ofType("AWS::Budgets::Budget")).toEqual([]);
    const subscribers = [{ SubscriptionType: "EMAIL", Address: "oncall@example.com" }];
    expect(propertiesOf(staging, "AWS::Budgets::Budget")).toMatchObject([
      {
        Budget: { BudgetType: "COST", TimeUnit: "MONTHLY", BudgetLimit: { Amount: 50, Unit: "USD" } },
        NotificationsWithSubscribers: [{ Subscribers: subscribers }, { Subscribers: subscribers }],
      },
    ]);
    const alone = { monthlyBudgetDollars: "50" };
    expect(() => synthesize("unnoticed", alone)).toThrow(/needs alarmEmail/);
  });

  test("functions that ask HIBP have the contact that the deployment names", () => {
    const contact = "security@acme.example";
    const named = [...functionsOf(staging)]
      .filter(([, { Environment }]) => Environment.Variables.HIBP_CONTACT === contact)
      .map(([name]) => name);
    expect(named.sort()).toEqual(using("hibp"));
  });

  const tenant = "9188040d-6c67-4c5b-b112-36a304b66dad";
  test("an issuer of one tenant of Entra is taken", () => {
    const oidcIssuer = `https://login.microsoftonline.com/${tenant}/v2.0`;
    const options: Record<string, unknown> = { oidcIssuer, oidcClientId: "a" };
    expect(readOptions((name) => options[name])).toMatchObject(options);
  });

  test.each([
    [{ hibpContact: "Ada (a)" }, 'hibpContact must be an e-mail address or an https url, not "Ada (a)"'],
    [{ alarms: "some" }, 'alarms must be all or minimal, not "some"'],
    [{ requestsPerSecond: "1e3" }, 'requestsPerSecond must be a whole number from 9 to 10000, not "1e3"'],
    [{ requestsPerSecond: 10_001 }, 'requestsPerSecond must be a whole number from 9 to 10000, not "10001"'],
    [{ webAcl: "yes" }, 'webAcl must be true or false, not "yes"'],
    [{ oidcName: "Okta" }, "oidcName needs oidcIssuer too"],
    [{ oidcIssuer: "http://acme.okta.com", oidcClientId: "a" }, "oidcIssuer must be an https url"],
    [{ oidcIssuer: "http://127.0.0.1.acme.com", oidcClientId: "a" }, "oidcIssuer must be an https url"],
    [{ oidcIssuer: "https://a@acme.okta.com", oidcClientId: "a" }, "oidcIssuer must be an https url"],
    [{ oidcIssuer: "https://acme.okta.com?a=b", oidcClientId: "a" }, "oidcIssuer must be an https url"],
    ...[
      "https://acme.okta.com/.well-known/openid-configuration",
      "https://keycloak.acme.com/realms/acme/.well-known/openid-configuration",
      ...["common", "organizations", "consumers", "acme.com", tenant.toUpperCase()].map(
        (name) => `https://login.microsoftonline.com/${name}/v2.0`,
      ),
      `https://login.microsoftonline.com/${tenant}`,
      `https://login.microsoftonline.com/${tenant}/v2.0/`,
      "https://login.microsoftonline.us/common/v2.0",
      "https://login.partner.microsoftonline.cn/common/v2.0",
    ].map((oidcIssuer): [Record<string, unknown>, string] => [
      { oidcIssuer, oidcClientId: "a" },
      "without /.well-known/…, such as https://acme.okta.com. Entra's is " +
        "https://login.microsoftonline.com/TENANT_ID/v2.0, with the id of one tenant instead of " +
        `common, not "${oidcIssuer}"`,
    ]),
    ...["hd", "hd=", "=acme.com", "a b=c", "hd=acme.com ", "hd=a\nb"].map(
      (oidcRequire): [Record<string, unknown>, string] => [
        { oidcIssuer: "https://acme.okta.com", oidcClientId: "a", oidcRequire },
        "oidcRequire must be a claim and its value, such as hd=acme.com",
      ],
    ),
    [{ oidcRequire: "hd=acme.com" }, "oidcRequire needs oidcIssuer too"],
    [{ oidcIssuer: "https://acme.okta.com", oidcClientId: "a b" }, "oidcClientId must be a client id"],
    [
      { oidcIssuer: "https://acme.okta.com", oidcClientId: "a", oidcName: "a".repeat(61) },
      "oidcName must be at most 60 characters",
    ],
    [
      { oidcIssuer: "https://acme.okta.com", oidcClientId: "a", oidcEmailClaim: "a b" },
      "oidcEmailClaim must be the name of a claim",
    ],
    [
      { oidcIssuer: "https://acme.okta.com", oidcClientId: "a", oidcJoin: "admin" },
      'oidcJoin must be member, not "admin"',
    ],
    [{ tableEncryption: "none" }, 'tableEncryption must be aws-owned or aws-managed, not "none"'],
    [{ tableName: "" }, "tableName must be the name of a DynamoDB table"],
    [{ tableName: "a".repeat(256) }, "tableName must be the name of a DynamoDB table"],
    [{ tableName: "arn:aws:dynamodb:us-east-1:000000000000:table/kept" }, "tableName must be the name of a"],
    [{ domainName: "breaches.example.com" }, "domainName needs certificateArn too"],
    [{ domainName: "https://breaches.example.com" }, "domainName must be a host name in lower case"],
    [{ certificateArn: "certificate" }, "certificateArn must be the ARN of a certificate of ACM"],
  ])("the option %o is refused", (context: Record<string, unknown>, sentence) => {
    expect(() => readOptions((name) => context[name])).toThrow(sentence);
  });

  const [hash, hashOfNothing] = [proxySecretHash, createHash("sha256").update("").digest("hex")];
  test.each(["", "0123456789abcdef", `${hash},`, `${hash} `, "A".repeat(64), true, hashOfNothing])(
    "the hash of the proxy's secret %o is refused, without being repeated",
    (value) => {
      const reading = () => readOptions((name) => (name === "trustedProxySecretSha256" ? value : undefined));
      expect(reading).toThrow(
        new RegExp(
          "^trustedProxySecretSha256 must be 64 hexadecimal digits in lower case, of a secret" +
            " that is not empty, or several such joined by commas$",
        ),
      );
    },
  );
});
