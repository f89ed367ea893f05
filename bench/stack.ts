import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { openAssembly } from "../local/template/assembly.ts";

export type Resources = {
  /** Each watches one metric, which is what AWS charges for. */
  alarms: number;
  /** Whether the HIBP key is a secret. A parameter costs nothing. */
  hasSecret: boolean;
  /** Names of the functions that a queue invokes, without the stack's name. */
  queueFunctions: string[];
  /** Queues that are polled, by whether their event source has a maximum concurrency. */
  polledQueues: { capped: number; uncapped: number };
  /** Whether the table's key is one of KMS in the account. */
  hasTableKey: boolean;
  /** Requests a second that API Gateway lets through. */
  requestsPerSecond: number;
  /** The memory of the authorizer; the function of the page has the same. */
  authorizerMegabytes: number;
  /** The largest file of the dashboard's page, which needs no credential. */
  largestPageFile: number;
};

type EventSource = { FunctionName: string; Enabled?: boolean; ScalingConfig?: object };

/** Resources of the template that cost money while idle, and limits of what a flood costs. */
export const resourcesOf = (assemblyDirectory: string): Resources => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const propertiesOf = <P extends object>(type: string): P[] =>
    assembly.ofType<P>(type).map(({ properties }) => properties);
  const sources = propertiesOf<EventSource>("AWS::Lambda::EventSourceMapping");
  const polled = sources.filter(({ Enabled }) => Enabled !== false);
  const capped = polled.filter(({ ScalingConfig }) => ScalingConfig !== undefined).length;
  const alarms = propertiesOf<{ AlarmName: string }>("AWS::CloudWatch::Alarm");
  const [table] = propertiesOf<{ SSESpecification?: { SSEEnabled: boolean } }>("AWS::DynamoDB::Table");
  const [stage] = propertiesOf<{ MethodSettings: { ThrottlingRateLimit: number }[] }>(
    "AWS::ApiGateway::Stage",
  );
  const authorizer = propertiesOf<{ FunctionName: string; MemorySize: number }>("AWS::Lambda::Function").find(
    ({ FunctionName }) => FunctionName.endsWith("-authorize"),
  );
  const pageFiles = globSync("**/page/assets/*", { cwd: assemblyDirectory });
  return {
    alarms: alarms.length,
    hasSecret: assembly.ofType("AWS::SecretsManager::Secret").length > 0,
    queueFunctions: sources.map(({ FunctionName }) => FunctionName.slice(assembly.stackName.length + 1)),
    polledQueues: { capped, uncapped: polled.length - capped },
    hasTableKey: table?.SSESpecification?.SSEEnabled ?? false,
    requestsPerSecond: stage?.MethodSettings[0]?.ThrottlingRateLimit ?? Number.NaN,
    authorizerMegabytes: authorizer?.MemorySize ?? Number.NaN,
    largestPageFile: Math.max(...pageFiles.map((file) => statSync(join(assemblyDirectory, file)).size)),
  };
};
