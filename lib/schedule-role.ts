import { Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";

/**
 * The role with which EventBridge Scheduler invokes one function, for the schedules of one group only, and leaves what it cannot
 * hand over.
 */
export function createScheduleRole(
  scope: Construct,
  groupName: string,
  target: IFunction,
  deadLetters: Queue,
): Role {
  const stack = Stack.of(scope);
  const group = stack.formatArn({
    service: "scheduler",
    resource: "schedule-group",
    resourceName: groupName,
  });
  const invoke = new PolicyStatement({
    actions: ["lambda:InvokeFunction"],
    resources: [target.functionArn],
  });
  const leave = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] });
  return new Role(scope, "ScheduleRole", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": group } },
    }),
    inlinePolicies: { Uses: new PolicyDocument({ statements: [invoke, leave] }) },
  });
}
