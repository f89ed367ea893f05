import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { type ILogGroup, LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Use } from "../shared/contract/endpoint.ts";
import { grantOf, type Resources } from "./uses.ts";

export type ServiceFunctionProps = {
  name: string;
  code: Code;
  uses: readonly Use[];
  resources: Resources;
  /** Default 10. */
  timeoutSeconds?: number | undefined;
  /** Default 256. */
  memoryMegabytes?: number | undefined;
  intervals?: Readonly<Record<string, number>> | undefined;
  recursive?: boolean | undefined;
  /** Permissions beside those of `uses`. */
  statements?: readonly PolicyStatement[];
  /** Default: one of its own. */
  logGroup?: ILogGroup | undefined;
  /** What people notice when it fails. */
  impact?: string | undefined;
  /** Whether X-Ray traces it. */
  isTraced: boolean;
};

/** Lambda gives CPU time in proportion to memory. People wait for endpoints (docs/decisions/0021-bundles.md). */
export const endpointMegabytes = 1_024;

/** A log group that is kept for 90 days. */
export const createLogGroup = (scope: Construct, id: string, name: string): LogGroup =>
  new LogGroup(scope, id, {
    logGroupName: `/aws/lambda/${Stack.of(scope).stackName}-${name}`,
    retention: RetentionDays.THREE_MONTHS,
    removalPolicy: RemovalPolicy.DESTROY,
  });

/** Traces have no resources to name. */
const sendTraces = (): PolicyStatement =>
  new PolicyStatement({
    actions: ["xray:PutTraceSegments", "xray:PutTelemetryRecords"],
    resources: ["*"],
  });

/**
 * A function with its own role, which may do exactly what the contract's `uses` say. The role contains its
 * policy, because a policy of its own would count among the 500 resources that a stack may have.
 */
export class ServiceFunction extends Construct {
  readonly name: string;
  readonly function: LambdaFunction;
  readonly logGroup: ILogGroup;

  constructor(scope: Construct, { name, code, uses, resources, ...contract }: ServiceFunctionProps) {
    super(scope, name);
    this.name = name;
    const functionName = `${Stack.of(this).stackName}-${name}`;
    const grants = uses.map((use) => grantOf(use, resources, uses)).filter((grant) => grant !== undefined);

    this.logGroup = contract.logGroup ?? createLogGroup(this, "Logs", name);
    const statements = [
      new PolicyStatement({
        actions: ["logs:CreateLogStream", "logs:PutLogEvents"],
        resources: [this.logGroup.logGroupArn],
      }),
      ...(contract.isTraced ? [sendTraces()] : []),
      ...grants
        .filter(({ actions }) => actions.length > 0)
        .map(({ environment: _, ...statement }) => new PolicyStatement(statement)),
      ...(contract.statements ?? []),
    ];
    const role = new Role(this, "Role", {
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { Uses: new PolicyDocument({ statements }) },
    });
    Validations.of(role).acknowledge(
      {
        id: "AwsSolutions-IAM5[Resource::*]",
        reason: "X-Ray has no resources to name: sending traces can only be allowed for all",
      },
      {
        id: "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<ScheduleGroup>/*]",
        reason: "Schedules are created at run time; the boundary is their group, which holds nothing else",
      },
      {
        id: "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]",
        reason: "SES wants permission for more than the sender's identity; a condition limits the sender",
      },
    );

    this.function = new LambdaFunction(this, "Function", {
      functionName,
      ...(contract.impact !== undefined && { description: `If it fails: ${contract.impact}` }),
      // Not to be changed from here on: the permissions that CDK would add are in the policy above.
      role: role.withoutPolicyUpdates(),
      logGroup: this.logGroup,
      code,
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(contract.timeoutSeconds ?? 10),
      memorySize: contract.memoryMegabytes ?? 256,
      tracing: contract.isTraced ? Tracing.ACTIVE : Tracing.DISABLED,
      loggingFormat: LoggingFormat.JSON,
      ...(contract.recursive && { recursiveLoop: RecursiveLoop.ALLOW }),
      environment: {
        POWERTOOLS_SERVICE_NAME: "breach-monitor",
        ...Object.assign({}, ...grants.map((grant) => grant.environment)),
        ...Object.fromEntries(
          Object.entries(contract.intervals ?? {}).map(([variable, seconds]) => [variable, String(seconds)]),
        ),
      },
    });
  }
}
