/** What the test sees and changes of a deployed stack behind its API: rows, messages and schedules. */
import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { GetScheduleCommand, SchedulerClient, UpdateScheduleCommand } from "@aws-sdk/client-scheduler";
import { ListQueuesCommand, SetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { keys } from "../../shared/aws/table/keys.ts";
import { blockOf } from "../../shared/lists/blocks.ts";
import { storedRows, type WireRow } from "../aws/table/stored-rows.ts";
import { eventually } from "../service/eventually.ts";
import type { Deployment } from "./deployment.ts";

/** The attempts of a delivery's first dispatch. */
const attemptsOfDispatch = "3";

export class BehindTheApi {
  readonly #deployment: Deployment;
  readonly #sqs = new SQSClient();
  readonly #dynamodb = new DynamoDBClient();

  constructor(deployment: Deployment) {
    this.#deployment = deployment;
  }

  /**
   * Lets queues hand out a message again 20 seconds after a function took it and ended. In the template it is
   * minutes. MiniStack ends the functions that are at work when an update replaces them, which AWS does not.
   */
  async handOutAgainSoon(): Promise<void> {
    const prefix = { QueueNamePrefix: `${this.#deployment.stackName}-` };
    const { QueueUrls = [] } = await this.#sqs.send(new ListQueuesCommand(prefix));
    const Attributes = { VisibilityTimeout: "20" };
    for (const QueueUrl of QueueUrls)
      await this.#sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
  }

  async delivery(org: number, id: number): Promise<WireRow> {
    const command = new GetItemCommand({ ...this.#deliveryKey(org, id), ConsistentRead: true });
    return (await this.#dynamodb.send(command)).Item ?? {};
  }

  /**
   * The id of a channel's delivery whose first attempts have failed. It waits an hour for the next dispatch.
   */
  async failedDelivery(org: number, channel: number): Promise<number> {
    const isIt = ({ pk, group, failedAttempts }: WireRow): boolean =>
      pk?.S?.startsWith(`ORG#${org}#DELIVERY#`) === true &&
      group?.S === String(channel) &&
      failedAttempts?.N === attemptsOfDispatch;
    const find = async () => (await storedRows()).find(isIt);
    const found = await eventually(find, (row) => row !== undefined, 60);
    return Number(found?.id?.N);
  }

  /** The hour passes. */
  async makeDue(org: number, id: number): Promise<void> {
    await this.#dynamodb.send(
      new UpdateItemCommand({
        ...this.#deliveryKey(org, id),
        UpdateExpression: "SET dueAt = :now",
        ExpressionAttributeValues: { ":now": { S: new Date().toISOString() } },
      }),
    );
  }

  /**
   * Makes the schedule of an organization's scans, which begins at a random time of the first day, come every minute.
   */
  async scanEveryMinute(org: number): Promise<void> {
    const scheduler = new SchedulerClient();
    const name = { Name: `organization-${org}`, GroupName: this.#deployment.outputs.ScheduleGroupName };
    const { Target, FlexibleTimeWindow } = await scheduler.send(new GetScheduleCommand(name));
    const ScheduleExpression = "rate(1 minute)";
    await scheduler.send(
      new UpdateScheduleCommand({ ...name, Target, FlexibleTimeWindow, ScheduleExpression }),
    );
  }

  #deliveryKey(org: number, id: number) {
    const { pk, sk } = keys.member(org, "DELIVERY", blockOf(id), id);
    return { TableName: this.#deployment.outputs.TableName, Key: { pk: { S: pk }, sk: { S: sk } } };
  }
}
