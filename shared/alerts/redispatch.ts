import type { Invocation } from "../queue/consume.ts";
import * as queue from "../queue/queue.ts";
import { dueIndex, dueShardsOf, type Key, organizationOf } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import { deliveries, takeDue } from "./delivery.ts";

/** Rows of a shard taken at the same time. */
const width = 10;

type Due = Key & { dueAt: string };

/**
 * Sends a message for every delivery that is due: a re-dispatch that is an hour old, or one whose message was lost.
 * First attempts go to their own lane. Stops when `remainingSeconds` runs low; what is left stays due. One that fails
 * is due again in a minute and does not hold up the others; the error is thrown at the end.
 */
export const redispatchDue = async ({ logger, remainingSeconds }: Invocation): Promise<void> => {
  const now = new Date().toISOString();
  const counts = { sent: 0, failed: 0 };
  let lastError: unknown;
  const redispatchShard = async (pk: string): Promise<void> => {
    const pages = table.queryPages<Due>({ index: dueIndex, pk, to: now });
    for await (const page of pages) {
      for (const part of parts(page, width)) {
        if (remainingSeconds() < 10) {
          logger.warn("re-dispatch stopped early", { shard: pk });
          return;
        }
        for (const outcome of await Promise.allSettled(part.map(redispatch))) {
          if (outcome.status === "rejected") {
            counts.failed++;
            lastError = outcome.reason;
          } else if (outcome.value) counts.sent++;
        }
      }
    }
  };
  // All shards at once: after an outage none has to wait for the backlog of the others.
  await Promise.all(dueShardsOf("DELIVERY").map(redispatchShard));
  if (counts.sent + counts.failed > 0) logger.info("re-dispatch", counts);
  if (counts.failed > 0) {
    throw new Error(`${counts.failed} deliveries were not re-dispatched`, { cause: lastError });
  }
};

/** Whether it was sent; somebody else may have taken it. */
const redispatch = async (due: Due): Promise<boolean> => {
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
