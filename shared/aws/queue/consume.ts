import { Logger } from "@aws-lambda-powertools/logger";
import type { Context, SQSEvent } from "aws-lambda";
import { type Message, messages, type QueueName } from "../../contract/messages.ts";
import { requireKnown, versionAttribute } from "../../contract/version.ts";
import { withTimeOf } from "../table/patience.ts";
import * as source from "./queue.ts";

/** What a worker is told about its invocation. `remainingSeconds`: until Lambda ends it. */
export type Invocation = { logger: Logger; remainingSeconds: () => number };

/** Throws for a message of a newer version too, whose form says nothing to this release. */
export const messageOf = <Q extends QueueName>(queue: Q, text: string): Message<Q> => {
  const body: unknown = JSON.parse(text);
  requireKnown("message", (body as Record<string, unknown> | null)?.[versionAttribute]);
  return messages[queue].parse(body) as Message<Q>;
};

/**
 * Makes the Lambda handler of a queue's worker, which parses each message by its schema and handles it. An
 * error is logged and fails the invocation: the function's alarm counts it, and SQS delivers the message
 * again soon (`retryDelaySeconds`), until its last receive.
 */
export const consume = <Q extends QueueName>(
  queue: Q,
  handle: (message: Message<Q>, invocation: Invocation) => Promise<void>,
): ((event: SQSEvent, context: Context) => Promise<void>) => {
  return async (event, context) => {
    const invocation = invocationOf(context);
    await withTimeOf(context.getRemainingTimeInMillis(), async () => {
      for (const record of event.Records) {
        const work = async () => handle(messageOf(queue, record.body), invocation);
        await consumeRecord(queue, record, invocation, work);
      }
    });
  };
};

export const invocationOf = (context: Context): Invocation => ({
  logger: new Logger(),
  remainingSeconds: () => context.getRemainingTimeInMillis() / 1000,
});

/** Works on one record. An error is logged and thrown, and SQS delivers the message again soon. */
export const consumeRecord = async (
  queue: QueueName,
  record: source.Received,
  { logger }: Invocation,
  work: () => Promise<void>,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    logger.error("message failed", {
      queue,
      messageId: record.messageId,
      receives: record.attributes.ApproximateReceiveCount,
      error: error as Error,
    });
    await retrySoon(record, logger);
    throw error;
  }
};

/** Without this a failed message would stay hidden for its queue's whole visibility timeout. */
const retrySoon = async ({ receiptHandle, attributes }: source.Received, logger: Logger): Promise<void> => {
  try {
    const receives = Number(attributes.ApproximateReceiveCount);
    await source.showAgain(receiptHandle, retryDelaySeconds(receives));
  } catch (error) {
    // The message comes again all the same, after the visibility timeout.
    logger.warn("message could not be shown again soon", { error: error as Error });
  }
};

/** The longest delay after the first receive, which doubles with each further one. */
const firstDelaySeconds = 60;
const longestDelaySeconds = 600;

/**
 * How long a message stays hidden after a worker has failed at it: 30 to 60 seconds after its first receive,
 * and 5 to 10 minutes in the end. Random, so that messages that failed together do not return together.
 */
export const retryDelaySeconds = (receives: number): number => {
  const longest = Math.min(longestDelaySeconds, firstDelaySeconds * 2 ** (receives - 1));
  return Math.round((longest * (1 + Math.random())) / 2);
};

/**
 * Makes the Lambda handler of a worker that a schedule invokes. An error is logged and fails the invocation.
 */
export const scheduled =
  <Input>(run: (input: Input, invocation: Invocation) => Promise<void>) =>
  async (input: Input, context: Context): Promise<void> => {
    const invocation = invocationOf(context);
    try {
      // Schedules of organizations were made by this release or by any other; those of the stack have no version.
      requireKnown("message", (input as { [versionAttribute]?: unknown } | undefined)?.[versionAttribute]);
      await withTimeOf(context.getRemainingTimeInMillis(), () => run(input, invocation));
    } catch (error) {
      invocation.logger.error("scheduled work failed", { error: error as Error });
      throw error;
    }
  };
