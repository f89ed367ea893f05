import { Stack, Validations } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { ILogGroup } from "aws-cdk-lib/aws-logs";
import type { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import { addsToWrites, grantOf, type Permission, type Resources } from "./uses.ts";

/**
 * The role of all functions with the same permissions, so that people read each set once. The role contains its policy.
 */
export class FunctionRole extends Role {
  private readonly logs: PolicyStatement;

  /**
   * The role within `scope` with these permissions, which may also write to this log group. It is named after
   * what it permits.
   */
  static of(
    scope: Construct,
    permissions: readonly Permission[],
    resources: Resources,
    logGroup: ILogGroup,
  ): FunctionRole {
    const grants = permissions.map((permission) => ({
      permission,
      grant: grantOf(permission, resources, permissions),
    }));
    const name = grants
      .filter(({ permission, grant }) => grant !== undefined || addsToWrites(permission))
      .map(({ permission }) => permission)
      .sort()
      .join(", ");
    const id = `May ${name || "nothing"}`;
    const statements = grants.flatMap(({ grant }) => {
      if (grant === undefined) return [];
      const { environment: _, also = [], ...statement } = grant;
      return [statement, also]
        .flat()
        .map(
          ({ actions, resources, conditions }) =>
            new PolicyStatement({ actions, resources, ...(conditions && { conditions }) }),
        );
    });
    const role =
      (scope.node.tryFindChild(id) as FunctionRole | undefined) ??
      new FunctionRole(scope, id, statements, resources.scheduleGroup);
    role.logs.addResources(logGroup.logGroupArn);
    return role;
  }

  private constructor(
    scope: Construct,
    id: string,
    statements: readonly PolicyStatement[],
    scheduleGroup: CfnScheduleGroup,
  ) {
    const logs = new PolicyStatement({ actions: ["logs:CreateLogStream", "logs:PutLogEvents"] });
    super(scope, id, {
      description: id,
      assumedBy: new ServicePrincipal("lambda.amazonaws.com"),
      inlinePolicies: { Uses: new PolicyDocument({ statements: [logs, ...statements] }) },
    });
    this.logs = logs;
    Validations.of(this).acknowledge(
      {
        id:
          "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:scheduler:<AWS::Region>:<AWS::AccountId>:" +
          `schedule/<${Stack.of(this).getLogicalId(scheduleGroup)}>/*]`,
        reason: "Schedules are created at run time; the boundary is their group, which holds nothing else",
      },
      {
        id: "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ses:<AWS::Region>:<AWS::AccountId>:identity/*]",
        reason: "SES wants permission for more than the sender's identity; a condition limits the sender",
      },
    );
  }
}
