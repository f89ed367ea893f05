/**
 * What one word of a contract's `uses` comes to: the actions it grants, on which resource, and the environment variables that
 * tell the function where that is. There is no other way to a permission, so no function can do what its contract
 * does not say.
 */
import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import type { Secret } from "aws-cdk-lib/aws-secretsmanager";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Use } from "../shared/api/endpoint.ts";
import type { QueueName } from "../shared/queue/messages.ts";
import { dueIndex } from "../shared/table/keys.ts";

/** What functions may use. */
export type Resources = {
  table: Table;
  queues: Record<QueueName, Queue>;
  hibpApiKey: Secret;
  scheduleGroup: CfnScheduleGroup;
};

export type Grant = { actions: string[]; resource: string; environment: Record<string, string> };

export function grantOf(use: Use, { table, queues, hibpApiKey }: Resources): Grant {
  const queue = (name: QueueName): Grant => ({
    actions: ["sqs:SendMessage"],
    resource: queues[name].queueArn,
    environment: { [`${name.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`]: queues[name].queueUrl },
  });
  const environment = { TABLE_NAME: table.tableName };
  switch (use) {
    case "table:read":
      return {
        actions: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"],
        resource: table.tableArn,
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
        resource: table.tableArn,
        environment,
      };
    case "table:due-index":
      return {
        actions: ["dynamodb:Query"],
        resource: `${table.tableArn}/index/${dueIndex.name}`,
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
        resource: hibpApiKey.secretArn,
        environment: { HIBP_API_KEY_SECRET_ARN: hibpApiKey.secretArn },
      };
  }
}
