/** What operators do by hand with channels and deliveries. */
import * as queue from "../queue/queue.ts";
import * as table from "../table/table.ts";
import type { Channel } from "./channel.ts";
import { type AlertEvent, deliveries, raiseFor, takeAtOnce } from "./delivery.ts";

/** The contract has no type of its own for tests; this one carries words for people, and receivers know it. */
const testEvent: AlertEvent = {
  type: "scan_error",
  error: "This is a test of the alert channel, sent by an administrator. No scan had a problem.",
};

/**
 * Sends a test event to a channel, whatever its notification flags say; gives the id of its delivery, which is
 * attempted like every other.
 */
export const sendTest = async (org: number, channel: Channel): Promise<number> => {
  const { writes, messages } = await raiseFor(org, [{ event: testEvent, channel }]);
  const [sending] = messages;
  if (sending === undefined) throw new Error("The test event made no delivery");
  await table.transact(deliveries.writes(org, writes));
  await queue.send("deliveries", sending.message, sending);
  return sending.message.deliveryId;
};

/**
 * Dispatches a delivery at once. One that is retrying goes on as if its next dispatch were due; one that was given up gets
 * three more attempts and no further dispatch. `busy`: an attempt is in hand.
 */
export const retry = async (
  org: number,
  id: number,
): Promise<"sent" | "unknown" | "delivered" | "pending" | "busy"> => {
  const row = await deliveries.get(org, id);
  if (row === undefined) return "unknown";
  const { channelId } = deliveries.facetOf(row);
  if (row.status === "delivered" || row.status === "pending") return row.status;
  if (!(await takeAtOnce(org, row))) return "busy";
  // In the lane of first attempts: somebody is waiting for it.
  await queue.send(
    "deliveries",
    { organizationId: org, deliveryId: id, channelId, attempt: row.attempts + 1 },
    { group: String(channelId) },
  );
  return "sent";
};
