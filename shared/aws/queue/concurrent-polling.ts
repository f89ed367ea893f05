import type { Context, SQSEvent } from "aws-lambda";
import type { Message, QueueName } from "../../contract/messages.ts";
import { NewerVersion } from "../../contract/version.ts";
import { withTimeOf } from "../table/patience.ts";
import { consumeRecord, type Invocation, invocationOf, messageOf } from "./consume.ts";
import * as queue from "./queue.ts";

/** Work that takes longer is most likely waiting for a server elsewhere. */
const waitBeforePollMilliseconds = 300;

/** As many as SQS gives at once, and as a batch has. */
const messagesPerPoll = 10;

/** A poll waits this long for a message, and can delay the end of an invocation by this time. */
const pollSeconds = 1;

/**
 * The time at which polling stops varies by this much. So invocations that began together do not stop
 * together.
 */
const stopJitterSeconds = 5;

/** Messages that one invocation works on at the same time; while they wait, they need nothing but memory. */
const maximumInFlight = 50;

/**
 * Work on messages that came together. `read` reads at once what all of them need, in their order; `handle`
 * works on each alone, at the same time as on the others.
 */
type BatchWorker<Q extends QueueName, S> = {
  read: (messages: readonly Message<Q>[]) => Promise<S[]>;
  handle: (message: Message<Q>, subject: S, invocation: Invocation) => Promise<void>;
};

/**
 * Concurrent polling: as `consume`, for messages whose work is mostly waiting for servers elsewhere. While a
 * message waits, the invocation receives further messages from its queue (SOURCE_QUEUE_URL) and works on them
 * too. So any number of servers that never answer cannot block the queue.
 *
 * No message is received in the last `messageTimeoutSeconds` of the invocation, the longest time that one
 * message takes. A received message that fails stays in the queue and does not fail the invocation. Messages
 * that were received together are deleted together. If one of the invocation's own messages fails, its other
 * ones are deleted, so that only that one comes again.
 */
export const consumeWithConcurrentPolling = <Q extends QueueName, S>(
  name: Q,
  { messageTimeoutSeconds }: { messageTimeoutSeconds: number },
  { read, handle }: BatchWorker<Q, S>,
): ((event: SQSEvent, context: Context) => Promise<void>) => {
  /** Begins the work on records that came together; gives the work on each. */
  const beginAll = (records: readonly queue.Received[], invocation: Invocation): Promise<void>[] => {
    const parsed = records.map(({ body }) => parse(name, body));
    const messages = parsed.filter((message) => message !== undefined);
    const reading = read(messages);
    reading.catch(() => undefined);
    const subjectOf = async (message: Message<Q>): Promise<S> => {
      try {
        return (await reading)[messages.indexOf(message)] as S;
      } catch (error) {
        if (!(error instanceof NewerVersion)) throw error;
        // A row that this release does not read holds up only the messages that need it.
        return (await read([message]))[0] as S;
      }
    };
    return records.map((record, place) =>
      consumeRecord(name, record, invocation, async () => {
        // A record that does not parse fails alone, with the reason.
        const message = parsed[place] ?? messageOf(name, record.body);
        await handle(message, await subjectOf(message), invocation);
      }),
    );
  };

  const poll = async (event: SQSEvent, context: Context): Promise<void> => {
    const invocation = invocationOf(context);
    const inFlight = new Set<Promise<unknown>>();
    const removals: Promise<unknown>[] = [];
    const track = (work: Promise<unknown>): void => {
      // An error leaves the message in the queue, which delivers it again.
      const settled = work.catch(() => undefined).finally(() => inFlight.delete(settled));
      inFlight.add(settled);
    };
    const reserveMilliseconds = (messageTimeoutSeconds + Math.random() * stopJitterSeconds) * 1000;
    const mayPoll = () => context.getRemainingTimeInMillis() > reserveMilliseconds;

    const own = beginAll(event.Records, invocation);
    own.forEach(track);
    let latest: Promise<unknown> = Promise.allSettled(own);
    while (!(await settleSoon(latest)) || inFlight.size > 0) {
      if (!mayPoll()) break;
      if (inFlight.size >= maximumInFlight) {
        await Promise.race(inFlight);
        continue;
      }
      const room = Math.min(messagesPerPoll, maximumInFlight - inFlight.size);
      const records = await queue.receive(room, pollSeconds).catch(() => undefined);
      if (records === undefined) break;
      const works = beginAll(records, invocation);
      works.forEach(track);
      latest = removeDone(records, works);
      removals.push(latest);
    }
    await Promise.all([...inFlight, ...removals]);
    await throwFailure(event.Records, own);
  };
  return (event, context) => withTimeOf(context.getRemainingTimeInMillis(), () => poll(event, context));
};

const parse = <Q extends QueueName>(name: Q, body: string): Message<Q> | undefined => {
  try {
    return messageOf(name, body);
  } catch {
    return undefined;
  }
};

/**
 * Throws the first error, if there is one, so that Lambda and the alarm see a failed invocation. Lambda then
 * deletes no message of the batch, so this function deletes those that did not fail.
 */
const throwFailure = async (
  records: readonly queue.Received[],
  works: readonly Promise<void>[],
): Promise<void> => {
  const results = await Promise.allSettled(works);
  const failure = results.find((result) => result.status === "rejected");
  if (failure === undefined) return;
  await removeDone(records, works);
  throw failure.reason;
};

/**
 * Once all work is over, deletes the messages of what did not fail. One that is not deleted comes again and
 * finds nothing to do.
 */
const removeDone = async (
  records: readonly queue.Received[],
  works: readonly Promise<void>[],
): Promise<void> => {
  const results = await Promise.allSettled(works);
  const done = records.filter((_, place) => results[place]?.status === "fulfilled");
  await queue.remove(done.map(({ receiptHandle }) => receiptHandle)).catch(() => undefined);
};

/** Whether work is over within `waitBeforePollMilliseconds`. */
const settleSoon = async (work: Promise<unknown>): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), waitBeforePollMilliseconds);
  });
  const settled = work.then(() => true as const);
  const result = await Promise.race([settled, timeout]);
  clearTimeout(timer);
  return result;
};
