import { retrying } from "../table/attempts.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Delivery, deliveries, ofChannel } from "./delivery.ts";

/** Deliveries of one block deleted with one transaction. */
const perTransaction = 90;

/**
 * Deletes the delivery history of a removed channel, block by block, while `mayGoOn`; the row that asks for it goes last.
 */
export const deleteHistory = async (
  org: number,
  channelId: number,
  mayGoOn: () => boolean,
): Promise<void> => {
  for await (const rows of ofChannel(org, channelId)) {
    for (let start = 0; start < rows.length; start += perTransaction) {
      if (!mayGoOn()) return;
      await deleteRows(org, rows.slice(start, start + perTransaction));
    }
  }
  await table.remove(keys.channelRemoval(org, channelId));
};

/** One by one where a worker is just finishing attempts. It cannot finish, nor make again, what is gone. */
const deleteRows = async (org: number, rows: readonly Delivery[]): Promise<void> => {
  const deletion = (row: Delivery) => deliveries.delete(org, row.id, deliveries.facetOf(row));
  try {
    await table.transact(deliveries.writes(org, rows.map(deletion)));
  } catch (error) {
    if (!(error instanceof table.TransactionRefused)) throw error;
    for (const { id } of rows) {
      await retrying(async () => {
        const row = await deliveries.get(org, id);
        if (row !== undefined) await table.transact(deliveries.writes(org, [deletion(row)]));
      });
    }
  }
};
