import type { Invocation } from "../queue/consume.ts";
import * as queue from "../queue/queue.ts";
import { chunk } from "../table/chunk.ts";
import { dueIndex, dueShardsOf, type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { deliveries } from "./delivery.ts";
import { takeForRedispatch } from "./schedule.ts";

/** Deliveries of one shard that are re-dispatched at the same time. */
const concurrency = 10;

/** Nothing new is begun in the last seconds of the invocation. */
const reserveSeconds = 10;

type DueRow = Key & { dueAt: string };

/**
 * Sends a message for every delivery that is due: the next dispatch of a failing delivery, or a replacement
 * for a lost message. Stops when the invocation's time runs low; the rest stays due. A delivery that cannot
 * be re-dispatched is due again in a minute and does not hold up the others; an error that counts such
 * deliveries is thrown at the end.
 */
export const redispatch = async ({ logger, remainingSeconds }: Invocation): Promise<void> => {
  const now = new Date().toISOString();
  const counts = { sent: 0, failed: 0 };
  let lastError: unknown;
  const redispatchShard = async (pk: string): Promise<void> => {
    const pages = table.queryPages<DueRow>({ index: dueIndex, pk, to: now });
    for await (const page of pages) {
      for (const rows of chunk(page, concurrency)) {
        if (remainingSeconds() < reserveSeconds) {
          logger.warn("re-dispatch stopped early", { shard: pk });
          return;
        }
        for (const settled of await Promise.allSettled(rows.map(redispatchOne))) {
          if (settled.status === "rejected") {
            counts.failed++;
            lastError = settled.reason;
          } else if (settled.value) counts.sent++;
        }
      }
    }
  };
  // All shards at once: after an outage no shard waits for the backlog of another.
  await Promise.all(dueShardsOf("DELIVERY").map(redispatchShard));
  if (counts.sent + counts.failed > 0) logger.info("re-dispatch", counts);
  if (counts.failed > 0) {
    throw new Error(`${counts.failed} deliveries were not re-dispatched; they are due again in a minute`, {
      cause: lastError,
    });
  }
};

/** Whether a message was sent; false when somebody else took the delivery. */
const redispatchOne = async (due: DueRow): Promise<boolean> => {
  const row = await takeForRedispatch(due, due.dueAt);
  if (row === undefined) return false;
  const { channelId } = deliveries.groupOf(row);
  await queue.send(
    // First attempts have a queue of their own, so that they do not wait behind retries.
    row.attempts === 0 ? "deliveries" : "delivery-retries",
    { organizationId: organizationOf(due), deliveryId: row.id, channelId, attempt: row.attempts + 1 },
    { group: String(channelId) },
  );
  return true;
};
