/**
 * Names of resources, derived from the template alone: every start of the same template finds its data again.
 */
import { createHash } from "node:crypto";
import { resolve } from "./resolve.ts";
import { declared, type Stack } from "./stack.ts";

/** Lambda's limit, the shortest of all services; queues allow 80 characters. */
const maximumNameLength = 64;

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

/** The name that the template gives, else `<stack>-<logicalId>`, shortened with a hash if it is too long. */
export const physicalId = (stack: Stack, logicalId: string): string => {
  const { Type: type, Properties: properties } = declared(stack, logicalId);
  if (type === "AWS::ApiGateway::RestApi") return stack.apiId;
  const property = nameProperty[type];
  const given = property === undefined ? undefined : resolve(stack, properties[property]);
  if (typeof given === "string") return given;
  return shorten(`${stack.name}-${logicalId}`);
};

const shorten = (name: string): string =>
  name.length <= maximumNameLength
    ? name
    : `${name.slice(0, maximumNameLength - 9)}-${hash(name).slice(0, 8)}`;

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
