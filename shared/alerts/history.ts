import type { Actor } from "../organizations/actor.ts";
import { retrying } from "../table/attempts.ts";
import { keys } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import * as channels from "./channel.ts";
import { type Delivery, deliveries, ofChannel } from "./delivery.ts";

/** Deliveries of one block deleted with one transaction. */
const perTransaction = 90;

/** A long history is left to the sweep, so that the client gets its reply in time. */
const historySeconds = 15;

/** Removes a channel, and what there is time for of its delivery history. Refuses `channelNotFound`. */
export const removeWithHistory = async (org: number, channelId: number, actor: Actor): Promise<void> => {
  const until = Date.now() + historySeconds * 1000;
  await channels.remove(org, channelId, actor);
  // The channel is gone, whatever becomes of its history: the sweep deletes what is left, and says what goes wrong then.
  await deleteHistory(org, channelId, () => Date.now() < until).catch(() => {});
};

/**
 * Deletes the delivery history of a removed channel, block by block, while `mayGoOn`; the row that asks for it goes last.
 */
export const deleteHistory = async (
  org: number,
  channelId: number,
  mayGoOn: () => boolean,
): Promise<void> => {
  for await (const rows of ofChannel(org, channelId)) {
    for (const part of parts(rows, perTransaction)) {
      if (!mayGoOn()) return;
      await deleteRows(org, part);
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
