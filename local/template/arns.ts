import { physicalId } from "./names.ts";
import { declared, type Stack } from "./stack.ts";

type Named = { stack: Stack; logicalId: string; name: string };

const within =
  (service: string, prefix: string) =>
  ({ stack: { region, accountId }, name }: Named): string =>
    `arn:aws:${service}:${region}:${accountId}:${prefix}${name}`;

const formats: Record<string, (resource: Named) => string> = {
  "AWS::DynamoDB::Table": within("dynamodb", "table/"),
  "AWS::IAM::Role": ({ stack, name }) => `arn:aws:iam::${stack.accountId}:role/${name}`,
  "AWS::Lambda::Function": within("lambda", "function:"),
  "AWS::Logs::LogGroup": (named) => `${within("logs", "log-group:")(named)}:*`,
  "AWS::SES::ConfigurationSet": within("ses", "configuration-set/"),
  "AWS::SQS::Queue": within("sqs", ""),
  "AWS::Scheduler::ScheduleGroup": within("scheduler", "schedule-group/"),
};

/** The ARN of a resource. Types without a format of their own get one made of their service and kind. */
export const arnOf = (stack: Stack, logicalId: string): string => {
  const { Type: type } = declared(stack, logicalId);
  const [, service = "", kind = ""] = type.toLowerCase().split("::");
  const format = formats[type] ?? within(service, `${kind}/`);
  return format({ stack, logicalId, name: physicalId(stack, logicalId) });
};
