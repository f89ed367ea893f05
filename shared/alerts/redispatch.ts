import type { Logger } from "@aws-lambda-powertools/logger";
import * as queue from "../queue/queue.ts";
import { dueIndex, dueShard, dueShards, type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { deliveries, takeDue } from "./delivery.ts";

/** Rows taken at the same time. */
const width = 10;

/**
 * Sends a message for every delivery that is due: a re-dispatch that is an hour old, or one whose message was lost.
 * First attempts go to their own lane. Stops when `remainingSeconds` runs low; what is left stays due.
 */
export const redispatchDue = async ({
  logger,
  remainingSeconds,
}: {
  logger: Logger;
  remainingSeconds: () => number;
}): Promise<void> => {
  const now = new Date().toISOString();
  let sent = 0;
  for (let shard = 0; shard < dueShards; shard++) {
    const pages = table.queryPages<Key & { dueAt: string }>({
      index: dueIndex,
      pk: dueShard("DELIVERY", shard),
      to: now,
    });
    for await (const page of pages) {
      for (let start = 0; start < page.length; start += width) {
        if (remainingSeconds() < 10) {
          logger.warn("re-dispatch stopped early", { sent });
          return;
        }
        const outcomes = await Promise.all(page.slice(start, start + width).map(redispatch));
        sent += outcomes.filter((taken) => taken).length;
      }
    }
  }
  if (sent > 0) logger.info("re-dispatch", { sent });
};

const redispatch = async (due: Key & { dueAt: string }): Promise<boolean> => {
  const row = await takeDue(due, due.dueAt);
  if (row === undefined) return false;
  const { channelId } = deliveries.facetOf(row);
  await queue.send(
    row.attempts === 0 ? "deliveries" : "delivery-retries",
    { organizationId: organizationOf(due), deliveryId: row.id, channelId, attempt: row.attempts + 1 },
    { group: String(channelId) },
  );
  return true;
};
