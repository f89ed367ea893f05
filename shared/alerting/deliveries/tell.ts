import type { Logger } from "@aws-lambda-powertools/logger";
import type { Write } from "../../aws/table/condition.ts";
import * as channels from "../channels/channel.ts";
import * as delivery from "./delivery.ts";
import { enqueueAlerts } from "./enqueue.ts";

/**
 * Prepares a message to the channels of an organization that want scan errors: `writes` belong into the transaction of what happened,
 * and `send` comes after it. Without `send` the re-dispatch sends the message a minute later.
 */
export const tell = async (
  org: number,
  error: string,
  logger: Logger,
): Promise<{ writes: Write[]; send: () => Promise<void> }> => {
  const raised = await delivery.raise(org, await channels.list(org), [{ type: "scan_error", error }]);
  return {
    writes: delivery.deliveries.writes(org, raised.writes),
    send: () => enqueueAlerts(org, raised.messages, logger),
  };
};
