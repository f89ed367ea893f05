/**
 * What one word of a contract's `uses` comes to: the actions it grants, on which resource, and the environment variables that
 * tell the function where that is. There is no other way to a permission, so no function can do what its contract
 * does not say.
 */
import type { ITable } from "aws-cdk-lib/aws-dynamodb";
import type { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Use } from "../shared/api/endpoint.ts";
import type { QueueName } from "../shared/queue/messages.ts";
import { urlVariable } from "../shared/queue/worker.ts";
import { dueIndex, keys } from "../shared/table/keys.ts";
import type { Sender } from "./sender.ts";

/** What functions may use. */
export type Resources = {
  table: Pick<ITable, "tableName" | "tableArn">;
  queues: Record<QueueName, Queue>;
  hibpApiKey: Secret;
  scheduleGroup: CfnScheduleGroup;
  /** Undefined: no e-mail is sent. */
  sender: Sender | undefined;
};

export type Grant = {
  actions: string[];
  resources: string[];
  conditions?: Record<string, Record<string, string>>;
  environment: Record<string, string>;
};

/** Undefined: what is to be used is not set up, so that nothing is granted and the function is told of nothing. */
export function grantOf(use: Use, { table, queues, hibpApiKey, sender }: Resources): Grant | undefined {
  const queue = (name: QueueName): Grant => ({
    actions: ["sqs:SendMessage"],
    resources: [queues[name].queueArn],
    environment: { [urlVariable(name)]: queues[name].queueUrl },
  });
  const environment = { TABLE_NAME: table.tableName };
  switch (use) {
    case "table:read":
      return {
        actions: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"],
        resources: [table.tableArn],
        environment,
      };
    case "table:write":
      // Transactions need the action of each of their parts.
      return {
        actions: [
          "dynamodb:PutItem",
          "dynamodb:UpdateItem",
          "dynamodb:DeleteItem",
          "dynamodb:ConditionCheckItem",
        ],
        resources: [table.tableArn],
        environment,
      };
    case "table:limits":
      return {
        actions: ["dynamodb:UpdateItem"],
        resources: [table.tableArn],
        conditions: { "ForAllValues:StringLike": { "dynamodb:LeadingKeys": keys.limit("*", "").pk } },
        environment,
      };
    case "table:due-index":
      return {
        actions: ["dynamodb:Query"],
        resources: [`${table.tableArn}/index/${dueIndex.name}`],
        environment,
      };
    case "queue:scan-plans":
      return queue("scan-plans");
    case "queue:scan-chunks":
      return queue("scan-chunks");
    case "queue:scan-lookups":
      return queue("scan-lookups");
    case "queue:deliveries":
      return queue("deliveries");
    case "queue:delivery-retries":
      return queue("delivery-retries");
    case "hibp":
      return {
        actions: ["secretsmanager:GetSecretValue"],
        resources: [hibpApiKey.secretArn],
        environment: { HIBP_API_KEY_SECRET_ARN: hibpApiKey.secretArn },
      };
    case "email":
      return (
        sender && {
          actions: ["ses:SendEmail"],
          resources: sender.resourceArns,
          conditions: { StringEquals: { "ses:FromAddress": sender.address } },
          environment: { SENDER_EMAIL: sender.address },
        }
      );
  }
}
