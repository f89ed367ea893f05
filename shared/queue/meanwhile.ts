import type { Context, SQSEvent, SQSRecord } from "aws-lambda";
import { consume, type Invocation } from "./consume.ts";
import type { Message, QueueName } from "./messages.ts";
import * as queue from "./queue.ts";

/** What takes longer waits for a server elsewhere, most likely. */
const patienceMilliseconds = 300;

/** Messages taken with one look: few, since other invocations may be free for them. */
const perLook = 4;

/** A look waits this long for messages; the invocation may end this much later than its work. */
const lookSeconds = 1;

/** Messages that an invocation has in hand at once. Those that wait cost nothing but memory. */
const inHandAtMost = 50;

/**
 * As `consume`, for messages whose work is mostly waiting for servers elsewhere: while one is not done, the invocation
 * takes further messages of its queue (SOURCE_QUEUE_URL) and works on them meanwhile. So servers that never answer take
 * up no room that others need, however many they are. None is taken in the last `longestSeconds` of the function's
 * timeout, which is what a message takes at most. What fails stays in the queue.
 */
export const consumeMeanwhile = <Q extends QueueName>(
  name: Q,
  { longestSeconds }: { longestSeconds: number },
  handle: (message: Message<Q>, invocation: Invocation) => Promise<void>,
): ((event: SQSEvent, context: Context) => Promise<void>) => {
  const consumeEvent = consume(name, handle);

  type Taken = Awaited<ReturnType<typeof queue.receive>>[number];
  const work = async (record: Taken, context: Context): Promise<void> => {
    await consumeEvent({ Records: [record as SQSRecord] }, context);
    await queue.remove(record.receiptHandle);
  };

  return async (event, context) => {
    const inHand = new Set<Promise<unknown>>();
    const take = (task: Promise<unknown>): Promise<unknown> => {
      // One whose message stays in the queue comes again, and finds that nothing is left to do.
      const done = task.catch(() => undefined).finally(() => inHand.delete(done));
      inHand.add(done);
      return done;
    };
    // So that invocations that began together do not all stop together.
    const reserveMilliseconds = (longestSeconds + Math.random() * lookSeconds * 5) * 1000;
    const mayTake = () => context.getRemainingTimeInMillis() > reserveMilliseconds;

    const own = consumeEvent(event, context);
    let latest = [take(own)];
    while (!(await areDone(latest)) || inHand.size > 0) {
      if (!mayTake()) break;
      if (inHand.size >= inHandAtMost) {
        await Promise.race(inHand);
        continue;
      }
      const records = await queue.receive(perLook, lookSeconds).catch(() => undefined);
      if (records === undefined) break;
      latest = records.map((record) => take(work(record, context)));
    }
    await Promise.all(inHand);
    return own;
  };
};

/** Waits a little for them. */
const areDone = async (tasks: readonly Promise<unknown>[]): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMilliseconds);
  });
  const done = Promise.all(tasks).then(() => true as const);
  const result = await Promise.race([done, patience]);
  clearTimeout(timer);
  return result;
};
