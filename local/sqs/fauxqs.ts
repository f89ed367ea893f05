/**
 * All that depends on the inside of fauxqs, whose package exports its SQS server alone:
 *
 * - The stores are imported from `fauxqs/dist` and given to the server, because event sources read the queues
 *   directly: the server's own long polling looks at every queue fifty times a second.
 * - `enqueue` and `dequeue` of each queue are replaced, to order fair queues.
 * - `MessageAttributes` of a request reach `enqueue` as the same object. The message's group travels beside
 *   that object, because fauxqs drops the MessageGroupId of a message for a standard queue.
 *
 * test/local/sqs/sqs.test.ts fails when one of these no longer takes effect.
 */
import { buildApp } from "fauxqs";
import { S3Store } from "../../node_modules/fauxqs/dist/s3/s3Store.js";
import { SnsStore } from "../../node_modules/fauxqs/dist/sns/snsStore.js";
import { SqsQueue, SqsStore } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";
import type { ReceivedMessage, SqsMessage } from "../../node_modules/fauxqs/dist/sqs/sqsTypes.js";
import { orderFairly } from "./fairness.ts";

/** For tests that simulate queues or make them fail. */
export { SqsQueue, SqsStore };

/** A message in flight. Times are milliseconds since 1970. */
export type TakenMessage = {
  id: string;
  receiptHandle: string;
  body: string;
  md5OfBody: string;
  receiveCount: number;
  sentAt: number;
  firstReceivedAt: number | undefined;
  group: string | undefined;
};

export type Queue = {
  name: string;
  arn: string;
  /** Makes messages available whose delay or visibility timeout has passed. */
  refresh(): void;
  /** How many messages can be taken. */
  available(): number;
  /** When the next delayed or invisible message is due, in Unix milliseconds; Infinity if there is none. */
  nextDueAt(): number;
  /** Takes up to ten messages. Those that were received too often go to the dead-letter queue instead. */
  take(count: number): TakenMessage[];
  delete(receiptHandle: string): void;
};

export type Fauxqs = {
  /** The server, a Fastify app. */
  app: ReturnType<typeof buildApp>;
  /** Attributes have the names and values of SQS's API. */
  createQueue(name: string, url: string, arn: string, attributes: Record<string, string>): Queue;
  queueByArn(arn: string): Queue | undefined;
  /** The queue of a QueueUrl in a request. */
  queueByUrl(url: string): Queue | undefined;
  /** Keeps the group of a message with the entry of SendMessage or SendMessageBatch that sends it. */
  keepGroup(entry: { MessageGroupId?: string; MessageAttributes?: object }): void;
};

export const openFauxqs = (): Fauxqs => {
  const store = new SqsStore();
  const stores = { sqsStore: store, snsStore: new SnsStore(), s3Store: new S3Store() };
  const queues = new Map<string, Queue>();
  const groups = new WeakMap<object, string>();
  const queueByArn = (arn: string): Queue | undefined => queues.get(arn);
  return {
    app: buildApp({ logger: false, stores }),
    createQueue: (name, url, arn, attributes) => {
      const inner = store.createQueue(name, url, arn, attributes);
      const queue = openQueue(store, inner);
      replaceMethods(inner, groups);
      queues.set(arn, queue);
      return queue;
    },
    queueByArn,
    queueByUrl: (url) => queueByArn(store.getQueue(url)?.arn ?? ""),
    keepGroup: (entry) => {
      if (entry.MessageGroupId === undefined) return;
      entry.MessageAttributes ??= {};
      groups.set(entry.MessageAttributes, entry.MessageGroupId);
    },
  };
};

const replaceMethods = (inner: SqsQueue, groups: WeakMap<object, string>): void => {
  const enqueue = inner.enqueue.bind(inner);
  inner.enqueue = (message) => {
    const group = groups.get(message.messageAttributes);
    if (group !== undefined) message.messageGroupId = group;
    enqueue(message);
  };
  const dequeue = inner.dequeue.bind(inner);
  inner.dequeue = (...args) => {
    inner.messages = orderFairly(inner.messages, inner.inflightMessages.values());
    return dequeue(...args);
  };
};

const openQueue = (store: SqsStore, inner: SqsQueue): Queue => ({
  name: inner.name,
  arn: inner.arn,
  refresh: () => inner.processTimers(),
  available: () => inner.messages.length,
  nextDueAt: () => nextDueAt(inner),
  take: (count) =>
    inner
      .dequeue(count, undefined, (arn) => store.getQueueByArn(arn))
      .map((received) =>
        describeMessage(received, inner.inflightMessages.get(received.ReceiptHandle)?.message),
      ),
  delete: (receiptHandle) => {
    inner.deleteMessage(receiptHandle);
  },
});

const nextDueAt = ({ delayedMessages, inflightMessages }: SqsQueue): number => {
  let dueAt = Number.POSITIVE_INFINITY;
  for (const { delayUntil = 0 } of delayedMessages) dueAt = Math.min(dueAt, delayUntil);
  for (const { visibilityDeadline } of inflightMessages.values()) dueAt = Math.min(dueAt, visibilityDeadline);
  return dueAt;
};

const describeMessage = (received: ReceivedMessage, message: SqsMessage | undefined): TakenMessage => ({
  id: received.MessageId,
  receiptHandle: received.ReceiptHandle,
  body: received.Body,
  md5OfBody: received.MD5OfBody,
  receiveCount: message?.approximateReceiveCount ?? 1,
  sentAt: message?.sentTimestamp ?? Date.now(),
  firstReceivedAt: message?.approximateFirstReceiveTimestamp,
  group: message?.messageGroupId,
});
