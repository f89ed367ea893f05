/** What operators do by hand with channels and deliveries. */
import * as queue from "../queue/queue.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import type { Channel } from "./channel.ts";
import {
  type AlertEvent,
  type Delivery,
  type DeliveryStatus,
  deliveries,
  ofChannel,
  raiseFor,
  takeAtOnce,
} from "./delivery.ts";

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

/** Rows written at the same time. */
const width = 25;

/**
 * Makes every delivery of a channel that was given up due, for three more attempts each; gives how many. The re-dispatch sends
 * them within a minute or two, in the lane of those that failed before: however many there are, first attempts of others
 * do not wait for them. Those that are made due are no longer given up, so it may be repeated, also when it was cut off.
 */
export const retryAll = async (
  org: number,
  channelId: number,
  progress: (retried: number) => void = () => {},
): Promise<number> => {
  let retried = 0;
  for await (const rows of ofChannel(org, channelId)) {
    const givenUp = rows.filter(({ status }) => status === "not_delivered");
    for (const part of parts(givenUp, width)) {
      const taken = await Promise.all(part.map((row) => takeAtOnce(org, row, "now")));
      retried += taken.filter((isTaken) => isTaken).length;
      progress(retried);
    }
  }
  return retried;
};

/**
 * Deliveries of a channel, newest first, and whether there are more. The status is not counted: with one, every delivery before
 * the page is read.
 */
export const list = async (
  org: number,
  channelId: number,
  { status, limit, offset }: { status: DeliveryStatus | undefined; limit: number; offset: number },
): Promise<{ items: Delivery[]; hasMore: boolean }> => {
  if (status === undefined) {
    const matches = (facet: { channelId: number }) => facet.channelId === channelId;
    const { items, total } = await deliveries.page(org, { matches, limit, offset });
    return { items, hasMore: total > offset + limit };
  }
  const found: Delivery[] = [];
  for await (const rows of ofChannel(org, channelId)) {
    found.push(...rows.filter((row) => row.status === status));
    if (found.length > offset + limit) break;
  }
  return { items: found.slice(offset, offset + limit), hasMore: found.length > offset + limit };
};
