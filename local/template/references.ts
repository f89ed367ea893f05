/** What Ref and Fn::GetAtt give. */
import { arnOf } from "./arns.ts";
import { physicalId } from "./names.ts";
import { resolve } from "./resolve.ts";
import { declared, type Stack } from "./stack.ts";

/** Stands for `AWS::NoValue`: the property or list item that has this value is left out. */
export const noValue = Symbol("AWS::NoValue");

/** Types whose Ref is their ARN. */
const refIsArn = new Set([
  "AWS::IAM::ManagedPolicy",
  "AWS::Lambda::Alias",
  "AWS::Lambda::Version",
  "AWS::SNS::Topic",
  "AWS::SecretsManager::Secret",
]);

const pseudoParameters: Record<string, (stack: Stack) => unknown> = {
  "AWS::AccountId": ({ accountId }) => accountId,
  "AWS::NoValue": () => noValue,
  "AWS::Partition": () => "aws",
  "AWS::Region": ({ region }) => region,
  "AWS::StackId": ({ region, accountId, name }) =>
    `arn:aws:cloudformation:${region}:${accountId}:stack/${name}/local`,
  "AWS::StackName": ({ name }) => name,
  "AWS::URLSuffix": () => "amazonaws.com",
};

/** The value of a pseudo parameter, of a parameter (its default), or of a resource. */
export const referenceTo = (stack: Stack, name: string): unknown => {
  const pseudoParameter = pseudoParameters[name];
  if (pseudoParameter !== undefined) return pseudoParameter(stack);
  const parameter = stack.template.Parameters?.[name];
  if (parameter !== undefined) {
    if (parameter.Default === undefined) throw new Error(`The template's parameter ${name} has no default`);
    return parameter.Default;
  }
  const { Type: type } = declared(stack, name);
  if (type === "AWS::SQS::Queue") return `${stack.queueBaseUrl}/${physicalId(stack, name)}`;
  return refIsArn.has(type) ? arnOf(stack, name) : physicalId(stack, name);
};

/** An attribute of a resource. One that is not known here gets a value that is unique to it. */
export const attributeOf = (stack: Stack, logicalId: string, name: string): unknown => {
  const { Type: type, Properties: properties } = declared(stack, logicalId);
  switch (name) {
    case "Arn":
    case "FunctionArn":
    case "TopicArn":
      return arnOf(stack, logicalId);
    case "QueueName":
    case "TopicName":
    case "StageName":
      return physicalId(stack, logicalId);
    case "QueueUrl":
      return referenceTo(stack, logicalId);
    case "RootResourceId":
      return `${physicalId(stack, logicalId)}-root`;
    case "FunctionName":
      return resolve(stack, properties.FunctionName);
    default:
      if (name === "Version" && type === "AWS::Lambda::Version") return "1";
      return `${physicalId(stack, logicalId)}-${name}`;
  }
};
