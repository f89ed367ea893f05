import type { SqsQueue } from "../node_modules/fauxqs/dist/sqs/sqsStore.js";
import type { ReceivedMessage } from "../node_modules/fauxqs/dist/sqs/sqsTypes.js";
import type { InvocationResult } from "./lambda.ts";

export interface EventSource {
  /** Makes the source look at its queue soon. */
  wake(): void;
  /** Takes no more messages. What runs is not waited for. */
  close(): void;
}

export interface EventSourceSettings {
  readonly queue: SqsQueue;
  /** Finds the dead-letter queue by its ARN. */
  readonly findQueue: (arn: string) => SqsQueue | undefined;
  readonly region: string;
  readonly invoke: (event: unknown) => Promise<InvocationResult>;
  readonly batchSize: number;
  readonly batchingWindowSeconds: number;
  readonly maximumConcurrency: number | undefined;
  readonly reportsItemFailures: boolean;
}

/** Batches beyond what the local functions run at once (lambda.ts) would only wait while their visibility timeout passes. */
const concurrencyLimit = 8;
/** What one receive call gives at most; Lambda joins several for a larger batch. */
const receiveSize = 10;
/** setTimeout takes no more; a longer wait looks again in between. */
const longestTimerMilliseconds = 2 ** 31 - 1;

/**
 * Hands a queue's messages to a function as Lambda's event source mapping does. It sleeps until it is woken, or until the
 * next delayed or invisible message is due. A failed batch, or the reported items of one, stays invisible until its
 * timeout passes; the queue's redrive policy then counts.
 */
export function openEventSource(settings: EventSourceSettings): EventSource {
  const { queue } = settings;
  const concurrency = Math.min(settings.maximumConcurrency ?? concurrencyLimit, concurrencyLimit);
  let running = 0;
  let isClosed = false;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;
  let windowEndsAt: number | undefined;

  function wake(): void {
    if (!isAwake) {
      isAwake = true;
      // The messages of one request become one batch where they can.
      setImmediate(() => {
        isAwake = false;
        work();
      });
    }
  }

  function work(): void {
    clearTimeout(timer);
    queue.processTimers();
    while (!isClosed && running < concurrency && isBatchReady()) {
      const batch = receive(settings);
      if (batch.length > 0) {
        running += 1;
        void deliver(settings, batch).finally(() => {
          running -= 1;
          wake();
        });
      }
    }
    if (!isClosed && running < concurrency) {
      const dueAt = Math.min(nextDueAt(queue), windowEndsAt ?? Number.POSITIVE_INFINITY);
      if (dueAt < Number.POSITIVE_INFINITY) {
        timer = setTimeout(work, Math.min(Math.max(dueAt - Date.now(), 1), longestTimerMilliseconds));
      }
    }
  }

  /** Whether there are messages, and enough of them or for long enough. */
  function isBatchReady(): boolean {
    const available = countAvailable(queue);
    if (available === 0) {
      windowEndsAt = undefined;
      return false;
    }
    windowEndsAt ??= Date.now() + settings.batchingWindowSeconds * 1000;
    if (available < settings.batchSize && Date.now() < windowEndsAt) {
      return false;
    }
    windowEndsAt = undefined;
    return true;
  }

  return {
    wake,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** Takes up to a batch. It can be empty when all that was there went to the dead-letter queue. */
function receive({ queue, findQueue, batchSize }: EventSourceSettings): ReceivedMessage[] {
  const batch: ReceivedMessage[] = [];
  while (batch.length < batchSize && countAvailable(queue) > 0) {
    const wanted = Math.min(batchSize - batch.length, receiveSize);
    batch.push(...queue.dequeue(wanted, undefined, findQueue));
  }
  return batch;
}

/**
 * Fair queues: groups that have few messages in work come before groups that have many, so that one busy or slow
 * group can't hold up the others. Within a group the order stays.
 */
export function orderFairly(queue: SqsQueue): void {
  const first = queue.messages[0]?.messageGroupId;
  if (queue.messages.every(({ messageGroupId }) => messageGroupId === first)) {
    return;
  }
  const counts = new Map<string | undefined, number>();
  const count = (group: string | undefined): number => {
    const before = counts.get(group) ?? 0;
    counts.set(group, before + 1);
    return before;
  };
  for (const { message } of queue.inflightMessages.values()) {
    count(message.messageGroupId);
  }
  queue.messages = queue.messages
    .map((message) => ({ message, rank: count(message.messageGroupId) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ message }) => message);
}

async function deliver(settings: EventSourceSettings, batch: ReceivedMessage[]): Promise<void> {
  const { queue, region } = settings;
  const Records = batch.map((message) => describeRecord(queue, region, message));
  const failedIds = await settings.invoke({ Records }).then(
    (result) => readFailures(settings, result, batch),
    () => allOf(batch),
  );
  for (const { MessageId, ReceiptHandle } of batch) {
    if (!failedIds.has(MessageId)) {
      queue.deleteMessage(ReceiptHandle);
    }
  }
}

/** The ids of the messages that failed, read as Lambda does: an answer it can't make sense of fails the whole batch. */
function readFailures(
  { reportsItemFailures }: EventSourceSettings,
  result: InvocationResult,
  batch: ReceivedMessage[],
): Set<string> {
  if ("functionError" in result) {
    return allOf(batch);
  }
  if (!reportsItemFailures) {
    return new Set();
  }
  const failures = (result.payload as { batchItemFailures?: unknown } | null)?.batchItemFailures ?? [];
  if (!Array.isArray(failures)) {
    return allOf(batch);
  }
  const ids = failures.map((failure) => failure?.itemIdentifier);
  const known = allOf(batch);
  return ids.every((id) => known.has(id)) ? new Set(ids) : known;
}

function allOf(batch: ReceivedMessage[]): Set<string> {
  return new Set(batch.map(({ MessageId }) => MessageId));
}

/** A record of Lambda's SQS event. */
function describeRecord(queue: SqsQueue, region: string, received: ReceivedMessage): Record<string, unknown> {
  const message = queue.inflightMessages.get(received.ReceiptHandle)?.message;
  const messageAttributes = Object.entries(received.MessageAttributes ?? {}).map(([name, value]) => [
    name,
    {
      stringValue: value.StringValue,
      binaryValue: value.BinaryValue,
      stringListValues: [],
      binaryListValues: [],
      dataType: value.DataType,
    },
  ]);
  return {
    messageId: received.MessageId,
    receiptHandle: received.ReceiptHandle,
    body: received.Body,
    attributes: {
      ApproximateReceiveCount: String(message?.approximateReceiveCount ?? 1),
      SentTimestamp: String(message?.sentTimestamp),
      SenderId: "000000000000",
      ApproximateFirstReceiveTimestamp: String(message?.approximateFirstReceiveTimestamp),
      ...(message?.messageGroupId === undefined ? {} : { MessageGroupId: message.messageGroupId }),
      ...(message?.messageDeduplicationId === undefined
        ? {}
        : { MessageDeduplicationId: message.messageDeduplicationId }),
      ...(message?.sequenceNumber === undefined ? {} : { SequenceNumber: message.sequenceNumber }),
    },
    messageAttributes: Object.fromEntries(messageAttributes),
    md5OfBody: received.MD5OfBody,
    ...(received.MD5OfMessageAttributes === undefined
      ? {}
      : { md5OfMessageAttributes: received.MD5OfMessageAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: queue.arn,
    awsRegion: region,
  };
}

function countAvailable(queue: SqsQueue): number {
  return queue.messages.length;
}

/** When the next delayed or invisible message becomes available, in milliseconds since 1970; Infinity if none does. */
function nextDueAt(queue: SqsQueue): number {
  let dueAt = Number.POSITIVE_INFINITY;
  for (const { delayUntil } of queue.delayedMessages) {
    dueAt = Math.min(dueAt, delayUntil ?? 0);
  }
  for (const { visibilityDeadline } of queue.inflightMessages.values()) {
    dueAt = Math.min(dueAt, visibilityDeadline);
  }
  return dueAt;
}
