import type { Logger } from "@aws-lambda-powertools/logger";
import type { Actor } from "../../access/activity/actor.ts";
import { inTransactions } from "../../aws/table/budget.ts";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { remove } from "../channels/remove.ts";
import { countNotDelivered, type Delivery, deliveries, ofChannel } from "./delivery.ts";
import { enqueueAlerts } from "./enqueue.ts";

/** The client waits this long for the deletion of the history; the sweep deletes the rest of a longer one. */
const historySeconds = 15;

/** Removes a channel, and as much of its delivery history as time allows. Refuses `channelNotFound`. */
export const removeWithHistory = async (
  org: number,
  channelId: number,
  actor: Actor,
  logger: Logger,
): Promise<void> => {
  const until = Date.now() + historySeconds * 1000;
  await enqueueAlerts(org, await remove(org, channelId, actor), logger);
  // The channel is removed even if this fails: the sweep deletes the rest, and reports an error that
  // persists.
  await deleteHistory(org, channelId, () => Date.now() < until).catch(() => {});
};

/**
 * Deletes the delivery history of a removed channel, block by block, for as long as `mayGoOn` returns true.
 * The row that makes the sweep continue is deleted last.
 */
export const deleteHistory = async (
  org: number,
  channelId: number,
  mayGoOn: () => boolean,
): Promise<void> => {
  for await (const rows of ofChannel(org, channelId)) {
    for (const part of inTransactions(rows, (row) => deletions(org, [row]))) {
      if (!mayGoOn()) return;
      await deleteRows(org, part);
    }
  }
  await table.remove(keys.channelRemoval(org, channelId));
};

const deleteRows = async (org: number, rows: readonly Delivery[]): Promise<void> => {
  const { written } = await table.attempt(table.transact(deletions(org, rows)));
  if (written) return;
  // A failed condition means that a row is deleted already: workers discard deliveries of removed channels
  // too.
  for (const { id } of rows) {
    await withOptimisticRetry(async () => {
      const row = await deliveries.get(org, id);
      if (row !== undefined) await table.transact(deletions(org, [row]));
    });
  }
};

/** All rows are of one channel. */
const deletions = (org: number, rows: readonly Delivery[]): Write[] => {
  const deleted = rows.map((row) => {
    const isAsRead = condition("#status = :status", { status: row.status });
    return deliveries.delete(org, row.id, deliveries.groupOf(row), isAsRead);
  });
  const givenUp = rows.filter(({ status }) => status === "not delivered");
  const [first] = givenUp;
  const counted = first === undefined ? [] : countNotDelivered(org, first, -givenUp.length);
  return [...deliveries.writes(org, deleted), ...counted];
};
