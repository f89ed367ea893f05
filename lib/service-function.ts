import { Duration, RemovalPolicy, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  type Code,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import { Construct } from "constructs";
import type { Use } from "../shared/api/endpoint.ts";
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
};

/** One function with a log group and a role of its own, which may do exactly what its contract's `uses` say. */
export class ServiceFunction extends Construct {
  readonly function: LambdaFunction;

  constructor(scope: Construct, { name, code, uses, resources, ...contract }: ServiceFunctionProps) {
    super(scope, name);
    const functionName = `${Stack.of(this).stackName}-${name}`;
    const grants = uses.map((use) => grantOf(use, resources)).filter((grant) => grant !== undefined);

    const logGroup = new LogGroup(this, "Logs", {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: RetentionDays.THREE_MONTHS,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, "Role", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    for (const { environment: _, ...statement } of grants) role.addToPolicy(new PolicyStatement(statement));
    Validations.of(role).acknowledge(
      {
        id: "AwsSolutions-IAM5[Resource::*]",
        reason: "X-Ray has no resources to name: trace segments can only be allowed for all",
      },
      {
        id: "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:schedule/<ScheduleGroup>/*]",
        reason: "Schedules are created at run time; the boundary is their group, which holds nothing else",
      },
      ...["identity", "configuration-set"].map((resource) => ({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:${resource}/*]`,
        reason:
          "SES asks for more than the sender's identity; the boundary is the sender, which is a condition",
      })),
    );

    this.function = new LambdaFunction(this, "Function", {
      functionName,
      role,
      logGroup,
      code,
      handler: "index.handler",
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      timeout: Duration.seconds(contract.timeoutSeconds ?? 10),
      memorySize: contract.memoryMegabytes ?? 256,
      tracing: Tracing.ACTIVE,
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
