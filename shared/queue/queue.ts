import { randomUUID } from "node:crypto";
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import type { SQSRecord } from "aws-lambda";
import type { Message, QueueName } from "../contract/messages.ts";
import { withVersion } from "../contract/version.ts";
import { urlVariable } from "../contract/worker.ts";

/** SQS accepts ten messages and 1 MiB in a batch; some bytes are left for what SQS adds to the bodies. */
const maximumBatch = 10;
const maximumBatchBytes = 900_000;

export type Sending = {
  /** Fair queues: when one group floods the queue, messages of other groups do not wait behind it. */
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

/** Sends messages in batches. Throws when SQS rejects a message; others may have been sent by then. */
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
    if (failed > 0) throw new Error(`SQS did not accept ${failed} messages for ${queue}; others were sent`);
    batch = [];
    bytes = 0;
  };
  for (const { message, group } of messages) {
    const MessageBody = JSON.stringify(withVersion(message));
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

/** The url of the queue that invokes this function. */
const source = (): string => urlIn("SOURCE_QUEUE_URL");

/**
 * Receives at most `atMost` messages from the queue that invokes this function, shaped as the records of its
 * events. Waits up to `waitSeconds` for the first one.
 */
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

/** Deletes a received message, so that SQS does not deliver it again. */
export const remove = async (receiptHandle: string): Promise<void> => {
  await client().send(new DeleteMessageCommand({ QueueUrl: source(), ReceiptHandle: receiptHandle }));
};
