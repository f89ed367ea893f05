import { inTransactions } from "../../aws/table/budget.ts";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { countNotDelivered, type Delivery, deliveries, ofChannel } from "./delivery.ts";

/**
 * Deletes the delivery history of a removed channel, block by block, for as long as `mayGoOn` returns true.
 * The row that makes the sweep continue goes last, and stays if a delivery has changed meanwhile.
 */
export const deleteHistory = async (
  org: number,
  channelId: number,
  mayGoOn: () => boolean,
): Promise<void> => {
  let isWhole = true;
  for await (const rows of ofChannel(org, channelId)) {
    for (const part of inTransactions(rows, (row) => deletions(org, [row]))) {
      if (!mayGoOn()) return;
      const { written } = await table.attempt(table.transact(deletions(org, part)));
      isWhole &&= written;
    }
  }
  if (isWhole) await table.remove(keys.channelRemoval(org, channelId));
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
