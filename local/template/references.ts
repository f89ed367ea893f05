/** What Ref and Fn::GetAtt give. */
import { arnOf } from "./arns.ts";
import { physicalId } from "./names.ts";
import { declared, type Stack } from "./stack.ts";

const pseudoParameters: Record<string, (stack: Stack) => unknown> = {
  "AWS::AccountId": ({ accountId }) => accountId,
  "AWS::Partition": () => "aws",
  "AWS::Region": ({ region }) => region,
  "AWS::URLSuffix": () => "amazonaws.com",
};

/** The value of a pseudo parameter or of a resource. */
export const referenceTo = (stack: Stack, name: string): unknown => {
  const pseudoParameter = pseudoParameters[name];
  if (pseudoParameter !== undefined) return pseudoParameter(stack);
  const id = physicalId(stack, name);
  return declared(stack, name).Type === "AWS::SQS::Queue" ? `${stack.queueBaseUrl}/${id}` : id;
};

/** An attribute of a resource. One that is not known here gets a value that is unique to it. */
export const attributeOf = (stack: Stack, logicalId: string, name: string): unknown => {
  if (name === "Arn") return arnOf(stack, logicalId);
  if (name === "QueueName") return physicalId(stack, logicalId);
  return `${physicalId(stack, logicalId)}-${name === "RootResourceId" ? "root" : name}`;
};
