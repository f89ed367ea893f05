import { retrying } from "../table/attempts.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Delivery, deliveries } from "./delivery.ts";

/** Deliveries of one block deleted with one transaction. */
const perTransaction = 90;

/**
 * Deletes the delivery history of a removed channel, block by block, while `mayGoOn`; the row that asks for it goes last.
 * Only blocks that hold deliveries of the channel are read.
 */
export const deleteHistory = async (
  org: number,
  channelId: number,
  mayGoOn: () => boolean,
): Promise<void> => {
  const isOfChannel = (facet: { channelId: number }) => facet.channelId === channelId;
  const blocks = deliveries.blocks(await deliveries.directory(org), isOfChannel);
  for (const block of blocks) {
    const rows = (await deliveries.members(org, block)).filter((row) => isOfChannel(deliveries.facetOf(row)));
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
