/** The chunks of a scan's work: how they are cut, named, kept and closed, and which of them are unfinished. */

import { condition } from "../aws/table/condition.ts";
import { keys, timeToLive } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { EmailChange } from "./compare-email.ts";
import { maximumScanMilliseconds } from "./lock.ts";
import type { ScanRow } from "./record.ts";

/** A chunk of a scan. `chunk` is its name within the batch. */
export type ChunkKey = { org: number; scanId: number; batch: number; chunk: string };

/** The largest size of a chunk's changes, in bytes of JSON. DynamoDB limits a row to 400 KB. */
const chunkBytes = 80_000;

/** Fewer chunks write the scan's row less often; smaller chunks run in parallel, and less is repeated when a worker dies. */
const changesPerChunk = 500;

/** The name of a chunk of look-ups, for e-mail ids of one block. */
export const lookupChunk = (fromId: number, toId: number): string => `L${fromId}_${toId}`;

export const isLookup = (chunk: string): boolean => chunk.startsWith("L");

/** The ids that a chunk of look-ups is for. */
export const rangeOf = (chunk: string): { fromId: number; toId: number } => {
  const [fromId = 0, toId = 0] = chunk.slice(1).split("_").map(Number);
  return { fromId, toId };
};

/** An unfinished chunk. `emails`: how many e-mails it still has to check. */
export type ChunkLeft = { batch: number; chunk: string; emails: number };

export const chunksLeft = (scan: Pick<ScanRow, "remaining">): ChunkLeft[] =>
  Object.entries(scan.remaining).flatMap(([batch, chunks]) =>
    Object.entries(chunks).map(([chunk, emails]) => ({ batch: Number(batch), chunk, emails })),
  );

/** Cuts the changes of a batch into chunks, whose names are their numbers. */
export const inChunks = (changes: readonly EmailChange[]): EmailChange[][] => {
  const chunks: EmailChange[][] = [];
  let bytes = 0;
  for (const change of changes) {
    const size = JSON.stringify(change).length;
    const last = chunks.at(-1);
    bytes += size;
    if (last !== undefined && last.length < changesPerChunk && bytes <= chunkBytes) last.push(change);
    else {
      chunks.push([change]);
      bytes = size;
    }
  }
  return chunks;
};

/** `changes`: as JSON, which takes less than lists and maps of the table. */
type ChunkRow = { fencingToken: number; changes: string };

/**
 * Keeps the changes of a chunk, before the scan's row names it, for as many workers as need it. Only the scan's last planner can
 * write them: another one may have got a different answer. Returns false when that is not this planner.
 */
export const keepChanges = async (
  { org, scanId, batch, chunk }: ChunkKey,
  fencingToken: number,
  changes: readonly EmailChange[],
): Promise<boolean> => {
  const row: ChunkRow = { fencingToken, changes: JSON.stringify(changes) };
  const kept = await table.attempt(
    table.put(
      { ...keys.chunk(org, scanId, batch, chunk), ...row, ...expiryAfter(2 * maximumScanMilliseconds) },
      condition("attribute_not_exists(#pk) OR #fencingToken <= :token", { token: fencingToken }),
    ),
  );
  return kept.written;
};

/** The changes of a chunk. */
export const changesOf = async ({ org, scanId, batch, chunk }: ChunkKey): Promise<EmailChange[]> => {
  const row = await table.get<ChunkRow>(keys.chunk(org, scanId, batch, chunk));
  if (row === undefined) throw new Error(`Chunk ${chunk} of scan ${scanId} has no changes`);
  return JSON.parse(row.changes) as EmailChange[];
};

export const expiryAfter = (milliseconds: number) => ({
  [timeToLive]: Math.floor((Date.now() + milliseconds) / 1000),
});

/**
 * The row that says that a chunk is closed: nothing more of the chunk is written. `skipped`: how many of its
 * e-mails its worker skipped; missing when the end of the scan closed the chunk.
 */
export type ClosedChunk = { skipped?: number };

/** Closes a chunk: no worker writes anything of it any more. The row outlives every worker of the scan. */
export const closeChunk = async (
  { org, scanId, batch, chunk }: ChunkKey,
  closed: ClosedChunk = {},
): Promise<void> => {
  const key = keys.closedChunk(org, scanId, batch, chunk);
  await table.put({ ...key, ...closed, ...expiryAfter(maximumScanMilliseconds) });
};
