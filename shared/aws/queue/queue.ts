import { randomUUID } from "node:crypto";
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type { Message, QueueName } from "../../contract/messages.ts";
import { withVersion } from "../../contract/version.ts";
import { urlVariable } from "../../contract/worker.ts";
import { chunk } from "../table/chunk.ts";
import { shortTimeouts } from "../timeouts.ts";

/** SQS accepts ten messages and 1 MiB in a batch. No message of ours has 1 KB (messages.ts). */
const maximumBatch = 10;

export type Sending = {
  /** Fair queues: when one group floods the queue, messages of other groups do not wait behind it. */
  group?: string;
};

let sqs: SQSClient | undefined;
const client = (): SQSClient => {
  sqs ??= new SQSClient({ maxAttempts: 3, requestHandler: shortTimeouts });
  return sqs;
};

const urlOf = (queue: QueueName): string => urlIn(urlVariable(queue));

const urlIn = (variable: string): string => {
  const url = process.env[variable];
  if (url === undefined || url === "") throw new Error(`${variable} is not set`);
  return url;
};

/** Sends one message, visible after `delaySeconds` (at most 900). Throws when SQS does not accept it. */
export const send = async <Q extends QueueName>(
  queue: Q,
  message: Message<Q>,
  { delaySeconds, group }: Sending & { delaySeconds?: number } = {},
): Promise<void> => {
  await client().send(
    new SendMessageCommand({
      QueueUrl: urlOf(queue),
      MessageBody: JSON.stringify(withVersion(message)),
      DelaySeconds: delaySeconds,
      MessageGroupId: group,
    }),
  );
};

/** As `sendPossible`, but throws when SQS did not accept all messages; the others were sent. */
export const sendAll = async <Q extends QueueName>(
  queue: Q,
  messages: readonly Outgoing<Q>[],
): Promise<void> => {
  const { failed, error } = await sendPossible(queue, messages);
  if (failed > 0)
    throw error ?? new Error(`SQS did not accept ${failed} messages for ${queue}; others were sent`);
};

/**
 * Sends messages in batches, and goes on after those that SQS does not accept. Returns how many were not
 * accepted, and why the last request that failed as a whole failed. Its messages may have been sent.
 */
export const sendPossible = async <Q extends QueueName>(
  queue: Q,
  messages: readonly Outgoing<Q>[],
): Promise<{ failed: number; error: unknown }> => {
  let failed = 0;
  let error: unknown;
  for (const batch of chunk(messages, maximumBatch)) {
    const entries = batch.map(({ message, group }) => ({
      Id: randomUUID(),
      MessageBody: JSON.stringify(withVersion(message)),
      MessageGroupId: group,
    }));
    try {
      const command = new SendMessageBatchCommand({ QueueUrl: urlOf(queue), Entries: entries });
      failed += (await client().send(command)).Failed?.length ?? 0;
    } catch (reason) {
      error = reason;
      failed += entries.length;
    }
  }
  return { failed, error };
};

type Outgoing<Q extends QueueName> = Sending & { message: Message<Q> };

/** The url of the queue that invokes this function. */
const source = (): string => urlIn("SOURCE_QUEUE_URL");

/** What of a record's fields a received message has. */
export type Received = Pick<SQSRecord, "messageId" | "receiptHandle" | "body" | "attributes">;

/**
 * Receives at most `atMost` messages from the queue that invokes this function, shaped as the records of its
 * events. Waits up to `waitSeconds` for the first one.
 */
export const receive = async (atMost: number, waitSeconds: number): Promise<Received[]> => {
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

/** Deletes received messages, at most ten, so that SQS does not deliver them again. */
export const remove = async (receiptHandles: readonly string[]): Promise<void> => {
  if (receiptHandles.length === 0) return;
  const Entries = receiptHandles.map((ReceiptHandle, index) => ({ Id: String(index), ReceiptHandle }));
  await client().send(new DeleteMessageBatchCommand({ QueueUrl: source(), Entries }));
};

/** Makes a received message visible again after this many seconds, whatever its queue's visibility timeout. */
export const showAgain = async (receiptHandle: string, seconds: number): Promise<void> => {
  await client().send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: source(),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }),
  );
};
