import { Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";

/** The role in which EventBridge Scheduler invokes one function, on behalf of the schedules of one group only. */
export function createScheduleRole(scope: Construct, groupName: string, target: IFunction): Role {
  const stack = Stack.of(scope);
  const group = stack.formatArn({
    service: "scheduler",
    resource: "schedule-group",
    resourceName: groupName,
  });
  const role = new Role(scope, "ScheduleRole", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": group } },
    }),
  });
  role.addToPolicy(
    new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [target.functionArn] }),
  );
  return role;
}
