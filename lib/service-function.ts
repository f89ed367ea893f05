import { Aws, Duration, RemovalPolicy } from "aws-cdk-lib";
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import { FunctionRole } from "./function-role.ts";
import { environmentOf, type Permission, type Resources } from "./uses.ts";

export type ServiceFunctionProps = {
  name: string;
  code: Code;
  uses: readonly Permission[];
  resources: Resources;
  /** Default 10. */
  timeoutSeconds?: number | undefined;
  /** Default 256. */
  memoryMegabytes?: number | undefined;
  intervals?: Readonly<Record<string, number>> | undefined;
  recursive?: boolean | undefined;
  /** Whether Lambda logs no start and end of each run. Those lines cost more than a refusal. */
  quiet?: boolean | undefined;
  /** Default: one of its own. */
  logGroup?: ILogGroup | undefined;
  /** What people notice when it fails. */
  impact?: string | undefined;
};

/** Lambda gives CPU time in proportion to memory. People wait for endpoints (docs/decisions/0021-bundles.md). */
export const endpointMegabytes = 1_024;

/** A log group that is kept for 90 days. */
export const createLogGroup = (scope: Construct, id: string, functionName: string): LogGroup =>
  new LogGroup(scope, id, {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: RetentionDays.THREE_MONTHS,
    removalPolicy: RemovalPolicy.DESTROY,
  });

/** Made of the name alone, so that it can be told to what the function itself waits for. */
export const functionArn = (functionName: string): string =>
  `arn:${Aws.PARTITION}:lambda:${Aws.REGION}:${Aws.ACCOUNT_ID}:function:${functionName}`;

/** A function that may do exactly what the contract's `uses` say. */
export class ServiceFunction extends Construct {
  readonly name: string;
  readonly function: LambdaFunction;
  readonly arn: string;
  readonly logGroup: ILogGroup;

  constructor(scope: Construct, { name, code, uses, resources, ...contract }: ServiceFunctionProps) {
    super(scope, name);
    this.name = name;
    const functionName = `${resources.name}-${name}`;
    this.arn = functionArn(functionName);
    this.logGroup = contract.logGroup ?? createLogGroup(this, "Logs", functionName);
    const role = FunctionRole.of(scope, uses, resources, this.logGroup);

    this.function = new LambdaFunction(this, "Function", {
      functionName,
      ...(contract.impact !== undefined && { description: `If it fails: ${contract.impact}` }),
      // Not to be changed from here on: the permissions that CDK would add are in the role's policy.
      role: role.withoutPolicyUpdates(),
      logGroup: this.logGroup,
      code,
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(contract.timeoutSeconds ?? 10),
      memorySize: contract.memoryMegabytes ?? 256,
      // A client's header can have each request traced, which costs more than the request. The authorizer
      // runs also for requests without a credential.
      tracing: Tracing.DISABLED,
      loggingFormat: LoggingFormat.JSON,
      ...(contract.quiet && { systemLogLevelV2: SystemLogLevel.WARN }),
      ...(contract.recursive && { recursiveLoop: RecursiveLoop.ALLOW }),
      environment: {
        POWERTOOLS_SERVICE_NAME: "breach-monitor",
        ...environmentOf(uses, resources),
        ...Object.fromEntries(
          Object.entries(contract.intervals ?? {}).map(([variable, seconds]) => [variable, String(seconds)]),
        ),
      },
    });
  }
}
