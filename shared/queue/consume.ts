import { BatchProcessor, EventType, processPartialResponse } from "@aws-lambda-powertools/batch";
import { Logger } from "@aws-lambda-powertools/logger";
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from "aws-lambda";
import { type Message, messages, type QueueName } from "./messages.ts";

/** What a worker knows of its invocation. */
export type Invocation = { logger: Logger; remainingSeconds: () => number };

/**
 * Makes the Lambda handler of a queue's worker: each message is parsed by its schema and handled by itself; those that
 * throw come back, and after their last receive go to the dead-letter queue.
 */
export const consume = <Q extends QueueName>(
  queue: Q,
  handle: (message: Message<Q>, invocation: Invocation) => Promise<void>,
): ((event: SQSEvent, context: Context) => Promise<SQSBatchResponse>) => {
  return async (event, context) => {
    const logger = new Logger();
    const invocation = { logger, remainingSeconds: () => context.getRemainingTimeInMillis() / 1000 };
    const handleRecord = async (record: SQSRecord): Promise<void> => {
      try {
        await handle(messages[queue].parse(JSON.parse(record.body)) as Message<Q>, invocation);
      } catch (error) {
        logger.error("message failed", {
          queue,
          messageId: record.messageId,
          receives: record.attributes.ApproximateReceiveCount,
          error: error as Error,
        });
        throw error;
      }
    };
    // Throws when all fail: only what is thrown counts as the function's error, and rings its alarm.
    return processPartialResponse(event, handleRecord, new BatchProcessor(EventType.SQS), { context });
  };
};
