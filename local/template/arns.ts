import { hash, physicalId } from "./names.ts";
import { resolve } from "./resolve.ts";
import { declared, type Environment, type Stack } from "./stack.ts";

type Named = { stack: Stack; logicalId: string; name: string; properties: Record<string, unknown> };

const within =
  (service: string, prefix: string) =>
  ({ stack: { region, accountId }, name }: Named): string =>
    `arn:aws:${service}:${region}:${accountId}:${prefix}${name}`;

const formats: Record<string, (resource: Named) => string> = {
  "AWS::ApiGateway::RestApi": ({ stack, name }) => `arn:aws:apigateway:${stack.region}::/restapis/${name}`,
  "AWS::CloudWatch::Alarm": within("cloudwatch", "alarm:"),
  "AWS::DynamoDB::GlobalTable": within("dynamodb", "table/"),
  "AWS::DynamoDB::Table": within("dynamodb", "table/"),
  "AWS::IAM::ManagedPolicy": ({ stack, name }) => `arn:aws:iam::${stack.accountId}:policy/${name}`,
  "AWS::IAM::Role": ({ stack, name, properties }) =>
    `arn:aws:iam::${stack.accountId}:role${resolve(stack, properties.Path) ?? "/"}${name}`,
  "AWS::Lambda::Function": within("lambda", "function:"),
  "AWS::Lambda::Alias": ({ stack, properties }) =>
    `${functionOf(stack, properties)}:${resolve(stack, properties.Name)}`,
  "AWS::Lambda::Version": ({ stack, properties }) => `${functionOf(stack, properties)}:1`,
  "AWS::Logs::LogGroup": (named) => `${within("logs", "log-group:")(named)}:*`,
  "AWS::S3::Bucket": ({ name }) => `arn:aws:s3:::${name}`,
  "AWS::SES::ConfigurationSet": within("ses", "configuration-set/"),
  "AWS::SES::EmailIdentity": within("ses", "identity/"),
  "AWS::SNS::Topic": within("sns", ""),
  "AWS::SQS::Queue": within("sqs", ""),
  "AWS::Scheduler::Schedule": (named) =>
    within("scheduler", `schedule/${resolve(named.stack, named.properties.GroupName) ?? "default"}/`)(named),
  "AWS::Scheduler::ScheduleGroup": within("scheduler", "schedule-group/"),
  // Secrets Manager appends a hyphen and six random characters.
  "AWS::SecretsManager::Secret": (named) =>
    `${within("secretsmanager", "secret:")(named)}-${hash(named.logicalId).slice(0, 6)}`,
};

/** The ARN of a resource. Types without a format of their own get one made of their service and kind. */
export const arnOf = (stack: Stack, logicalId: string): string => {
  const { Type: type, Properties: properties } = declared(stack, logicalId);
  const [, service = "", kind = ""] = type.toLowerCase().split("::");
  const format = formats[type] ?? within(service, `${kind}/`);
  return format({ stack, logicalId, name: physicalId(stack, logicalId), properties });
};

const functionOf = (stack: Stack, properties: Record<string, unknown>): string =>
  functionArnOf(stack, String(resolve(stack, properties.FunctionName)));

/** The ARN of a function that a template names by its name or by its ARN. */
export const functionArnOf = (
  { region, accountId }: Pick<Environment, "region" | "accountId">,
  nameOrArn: string,
): string =>
  nameOrArn.startsWith("arn:") ? nameOrArn : `arn:aws:lambda:${region}:${accountId}:function:${nameOrArn}`;
