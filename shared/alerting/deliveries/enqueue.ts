import type { Logger } from "@aws-lambda-powertools/logger";
import * as queue from "../../aws/queue/queue.ts";
import type { Raised } from "./delivery.ts";

/**
 * Enqueues the messages of deliveries that are written. A failure is logged and not thrown: the deliveries'
 * rows are due, and the re-dispatch enqueues them.
 */
export const enqueueAlerts = async (
  org: number,
  messages: Raised["messages"],
  logger: Logger,
): Promise<void> => {
  const { failed, error } = await queue.sendPossible("deliveries", messages);
  if (failed === 0) return;
  logger.warn("alerts could not be enqueued: the re-dispatch sends them", {
    organizationId: org,
    failed,
    error: error as Error,
  });
};
