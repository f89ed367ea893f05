import { randomUUID } from "node:crypto";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type { Message, QueueName } from "./messages.ts";
import { urlVariable } from "./worker.ts";

/** SQS takes ten messages in a batch and 1 MiB in all. */
const maximumBatch = 10;
const maximumBatchBytes = 900_000;

export type Sending = {
  /** Fair queues: messages of a group that floods the queue wait, those of other groups do not. */
  group?: string;
};

let sqs: SQSClient | undefined;
const client = (): SQSClient => {
  sqs ??= new SQSClient({ maxAttempts: 4 });
  return sqs;
};

const urlOf = (queue: QueueName): string => urlIn(urlVariable(queue));

const urlIn = (variable: string): string => {
  const url = process.env[variable];
  if (url === undefined || url === "") throw new Error(`${variable} is not set`);
  return url;
};

/** Sends one message, visible after `delaySeconds` (SQS allows 900). Throws when SQS did not take it. */
export const send = async <Q extends QueueName>(
  queue: Q,
  message: Message<Q>,
  { delaySeconds, group }: Sending & { delaySeconds?: number } = {},
): Promise<void> => {
  await client().send(
    new SendMessageCommand({
      QueueUrl: urlOf(queue),
      MessageBody: JSON.stringify(message),
      DelaySeconds: delaySeconds,
      MessageGroupId: group,
    }),
  );
};

/** Sends many, in as few requests as SQS allows. Throws when one was not taken; others may then have been sent. */
export const sendAll = async <Q extends QueueName>(
  queue: Q,
  messages: readonly (Sending & { message: Message<Q> })[],
): Promise<void> => {
  let batch: { Id: string; MessageBody: string; MessageGroupId?: string }[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    if (batch.length === 0) return;
    const reply = await client().send(
      new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries: batch }),
    );
    const failed = reply.Failed?.length ?? 0;
    if (failed > 0) throw new Error(`SQS did not take ${failed} messages of ${queue}`);
    batch = [];
    bytes = 0;
  };
  for (const { message, group } of messages) {
    const MessageBody = JSON.stringify(message);
    const size = Buffer.byteLength(MessageBody);
    if (batch.length === maximumBatch || bytes + size > maximumBatchBytes) await flush();
    batch.push({
      Id: randomUUID(),
      MessageBody,
      ...(group !== undefined && { MessageGroupId: group }),
    });
    bytes += size;
  }
  await flush();
};

/** The queue that feeds this function. */
const source = (): string => urlIn("SOURCE_QUEUE_URL");

/** Takes up to so many messages of the queue that feeds this function, in the form in which its event source has them. */
export const receive = async (
  atMost: number,
  waitSeconds: number,
): Promise<Pick<SQSRecord, "messageId" | "receiptHandle" | "body" | "attributes">[]> => {
  const { Messages = [] } = await client().send(
    new ReceiveMessageCommand({
      QueueUrl: source(),
      MaxNumberOfMessages: atMost,
      WaitTimeSeconds: waitSeconds,
      MessageSystemAttributeNames: ["ApproximateReceiveCount"],
    }),
  );
  return Messages.map(({ MessageId = "", ReceiptHandle = "", Body = "", Attributes }) => ({
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: Attributes as unknown as SQSRecord["attributes"],
  }));
};

/** Ends a message that `receive` has given. */
export const remove = async (receiptHandle: string): Promise<void> => {
  await client().send(new DeleteMessageCommand({ QueueUrl: source(), ReceiptHandle: receiptHandle }));
};
