/**
 * Names of resources, derived from the template alone: every start of the same template finds its data again.
 */
import { resolve } from "./resolve.ts";
import { declared, type Stack } from "./stack.ts";

/** The property that names a resource, for types whose Ref or ARN contains that name. */
const nameProperty: Record<string, string> = {
  "AWS::ApiGateway::Stage": "StageName",
  "AWS::DynamoDB::Table": "TableName",
  "AWS::IAM::Role": "RoleName",
  "AWS::Lambda::Function": "FunctionName",
  "AWS::Logs::LogGroup": "LogGroupName",
  "AWS::SES::ConfigurationSet": "Name",
  "AWS::SQS::Queue": "QueueName",
  "AWS::Scheduler::Schedule": "Name",
  "AWS::Scheduler::ScheduleGroup": "Name",
};

/** The name that the template gives, else `<stack>-<logicalId>`. */
export const physicalId = (stack: Stack, logicalId: string): string => {
  const { Type: type, Properties: properties } = declared(stack, logicalId);
  if (type === "AWS::ApiGateway::RestApi") return stack.apiId;
  const property = nameProperty[type];
  const given = property === undefined ? undefined : resolve(stack, properties[property]);
  return typeof given === "string" ? given : `${stack.name}-${logicalId}`;
};
