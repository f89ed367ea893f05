import { maximumInstances } from "../lambda/definition.ts";
import type { InvocationResult } from "../lambda/protocol.ts";
import type { Queue, TakenMessage } from "./fauxqs.ts";

export type EventSource = {
  /** Makes the source look at its queue soon. */
  wake(): void;
  /** Takes no more messages. Batches that are being handled are not waited for. */
  close(): void;
};

export type EventSourceSettings = {
  queue: Queue;
  region: string;
  invoke: (event: unknown) => Promise<InvocationResult>;
  batchSize: number;
  maximumConcurrency: number | undefined;
};

/** What one receive call gives at most; Lambda joins several for a larger batch. */
const maximumReceived = 10;

/** setTimeout takes no more; the source looks again in between. */
const longestTimerMilliseconds = 2 ** 31 - 1;

/**
 * Hands a queue's messages to a function as Lambda's event source mapping does. The source sleeps until it is
 * woken, or until the next delayed or invisible message is due. Messages of a failed batch stay invisible until
 * their visibility timeout passes.
 */
export const openEventSource = (settings: EventSourceSettings): EventSource => {
  const { queue, batchSize } = settings;
  // More than the function has instances would only wait while they are invisible.
  const mostBatches = Math.min(settings.maximumConcurrency ?? Number.POSITIVE_INFINITY, maximumInstances);
  let running = 0;
  let isClosed = false;
  let isAwake = false;
  let timer: NodeJS.Timeout | undefined;

  const wake = (): void => {
    if (isAwake) return;
    isAwake = true;
    // The source waits a moment, so that the messages of one request can become one batch.
    setImmediate(() => {
      isAwake = false;
      work();
    });
  };

  const work = (): void => {
    clearTimeout(timer);
    queue.refresh();
    while (!isClosed && running < mostBatches && queue.available() > 0) {
      const batch = take(queue, batchSize);
      if (batch.length > 0) handle(batch);
    }
    if (!isClosed && running < mostBatches) sleep();
  };

  const handle = (batch: TakenMessage[]): void => {
    running += 1;
    void deliver(settings, batch).finally(() => {
      running -= 1;
      wake();
    });
  };

  const sleep = (): void => {
    const dueAt = queue.nextDueAt();
    if (dueAt === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(work, Math.min(Math.max(dueAt - Date.now(), 1), longestTimerMilliseconds));
  };

  return {
    wake,
    close: () => {
      isClosed = true;
      clearTimeout(timer);
    },
  };
};

/** Takes up to a batch: no messages if all went to the dead-letter queue. */
const take = (queue: Queue, batchSize: number): TakenMessage[] => {
  const batch: TakenMessage[] = [];
  while (batch.length < batchSize && queue.available() > 0) {
    batch.push(...queue.take(Math.min(batchSize - batch.length, maximumReceived)));
  }
  return batch;
};

const deliver = async (
  { queue, region, invoke }: EventSourceSettings,
  batch: TakenMessage[],
): Promise<void> => {
  const Records = batch.map((message) => recordOf(queue, region, message));
  const isDone = await invoke({ Records }).then(
    (result) => !("functionError" in result),
    () => false,
  );
  if (isDone) for (const { receiptHandle } of batch) queue.delete(receiptHandle);
};

/** A message in the form of Lambda's event. */
const recordOf = (queue: Queue, region: string, message: TakenMessage): object => ({
  messageId: message.id,
  receiptHandle: message.receiptHandle,
  body: message.body,
  attributes: {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAt),
    SenderId: "000000000000",
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    ...(message.group !== undefined && { MessageGroupId: message.group }),
  },
  messageAttributes: {},
  md5OfBody: message.md5OfBody,
  eventSource: "aws:sqs",
  eventSourceARN: queue.arn,
  awsRegion: region,
});
