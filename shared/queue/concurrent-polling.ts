import type { Context, SQSEvent, SQSRecord } from "aws-lambda";
import type { Message, QueueName } from "../contract/messages.ts";
import { consume, type Invocation } from "./consume.ts";
import * as queue from "./queue.ts";

/** Work that takes longer is most likely waiting for a server elsewhere. */
const waitBeforePollMilliseconds = 300;

/** Few messages, because other invocations may be free for the rest. */
const messagesPerPoll = 4;

/** A poll waits this long for a message, and can delay the end of an invocation by this time. */
const pollSeconds = 1;

/**
 * The time at which polling stops varies by this much, so that invocations that began together do not all
 * stop together.
 */
const stopJitterSeconds = 5;

/** Messages that one invocation works on at the same time; while they wait, they need nothing but memory. */
const maximumInFlight = 50;

/**
 * Concurrent polling: as `consume`, for messages whose work is mostly waiting for servers elsewhere. While a
 * message waits, the invocation receives further messages from its queue (SOURCE_QUEUE_URL) and works on them
 * too, so that any number of servers that never answer cannot block the queue.
 *
 * No message is received in the last `messageTimeoutSeconds` of the invocation, the longest time that one
 * message takes. A received message that fails stays in the queue and does not fail the invocation.
 */
export const consumeWithConcurrentPolling = <Q extends QueueName>(
  name: Q,
  { messageTimeoutSeconds }: { messageTimeoutSeconds: number },
  handle: (message: Message<Q>, invocation: Invocation) => Promise<void>,
): ((event: SQSEvent, context: Context) => Promise<void>) => {
  const consumeEvent = consume(name, handle);

  type Received = Awaited<ReturnType<typeof queue.receive>>[number];
  const workOn = async (record: Received, context: Context): Promise<void> => {
    await consumeEvent({ Records: [record as SQSRecord] }, context);
    await queue.remove(record.receiptHandle);
  };

  return async (event, context) => {
    const inFlight = new Set<Promise<unknown>>();
    const track = (work: Promise<unknown>): Promise<unknown> => {
      // An error leaves the message in the queue, which delivers it again.
      const settled = work.catch(() => undefined).finally(() => inFlight.delete(settled));
      inFlight.add(settled);
      return settled;
    };
    const reserveMilliseconds = (messageTimeoutSeconds + Math.random() * stopJitterSeconds) * 1000;
    const mayPoll = () => context.getRemainingTimeInMillis() > reserveMilliseconds;

    const own = consumeEvent(event, context);
    let latest = [track(own)];
    while (!(await settleSoon(latest)) || inFlight.size > 0) {
      if (!mayPoll()) break;
      if (inFlight.size >= maximumInFlight) {
        await Promise.race(inFlight);
        continue;
      }
      const records = await queue.receive(messagesPerPoll, pollSeconds).catch(() => undefined);
      if (records === undefined) break;
      latest = records.map((record) => track(workOn(record, context)));
    }
    await Promise.all(inFlight);
    return own;
  };
};

/** Whether all work settles within `waitBeforePollMilliseconds`. */
const settleSoon = async (works: readonly Promise<unknown>[]): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitBeforePollMilliseconds);
  });
  const settled = Promise.all(works).then(() => true as const);
  const result = await Promise.race([settled, timeout]);
  clearTimeout(timer);
  return result;
};
