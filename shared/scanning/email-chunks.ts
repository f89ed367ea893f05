/**
 * The chunks of a scan's work: how they are cut, named, kept, closed and taken off, and which of them
 * are unfinished.
 */

import { condition, type Write } from "../aws/table/condition.ts";
import { keys, timeToLive } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { EmailChange } from "./compare-email.ts";
import { maximumScanMilliseconds } from "./lock.ts";
import { type ScanRecord, type ScanRow, scans } from "./record.ts";

/** A chunk of a scan. `chunk` is its name within the batch. */
export type ChunkKey = { org: number; scanId: number; batch: number; chunk: string };

/** The largest size of a chunk's changes, in bytes of JSON. DynamoDB limits a row to 400 KB. */
const chunkBytes = 80_000;

/**
 * Fewer chunks write the scan's row less often; smaller chunks run in parallel, and less is repeated
 * when a worker dies.
 */
const changesPerChunk = 500;

/** The name of a chunk of look-ups, which says all that there is to do: those of e-mail ids of one block. */
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

/** Whether everything that a scan planned is done. */
export const isDone = (scan: Pick<ScanRow, "planned" | "remaining">): boolean =>
  scan.planned && chunksLeft(scan).length === 0;

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
type ChunkRow = { changes: string };

/** Keeps the changes of a chunk, before the scan's row names it, for as many workers as need it. */
export const keepChanges = (
  { org, scanId, batch, chunk }: ChunkKey,
  changes: readonly EmailChange[],
): Promise<void> => {
  const row: ChunkRow = { changes: JSON.stringify(changes) };
  const key = keys.chunk(org, scanId, batch, chunk);
  return table.put({ ...key, ...row, ...expiryAfter(2 * maximumScanMilliseconds) });
};

/** The changes of a chunk. */
export const changesOf = async ({ org, scanId, batch, chunk }: ChunkKey): Promise<EmailChange[]> => {
  const row = await table.get<ChunkRow>(keys.chunk(org, scanId, batch, chunk));
  if (row === undefined) throw new Error(`Chunk ${chunk} of scan ${scanId} has no changes`);
  return JSON.parse(row.changes) as EmailChange[];
};

const expiryAfter = (milliseconds: number) => ({
  [timeToLive]: Math.floor((Date.now() + milliseconds) / 1000),
});

/** The row that closes a chunk: no worker writes anything of it any more. It outlives every worker of the scan. */
export const closedRow = ({ org, scanId, batch, chunk }: ChunkKey) => ({
  ...keys.closedChunk(org, scanId, batch, chunk),
  ...expiryAfter(maximumScanMilliseconds),
});

/**
 * Closes a chunk, takes it off the scan and adds to the scan's counts, in one transaction and once:
 * another worker may have the same chunk and be slow. `rest`: the look-ups of it that are left, as a
 * chunk of their own.
 */
export const takingOff = (
  key: ChunkKey,
  scan: ScanRecord,
  add: Record<string, number>,
  rest?: Pick<ChunkLeft, "chunk" | "emails">,
): Write[] => {
  const { org, batch, chunk } = key;
  const change = scans.change(org, scan.id, {
    from: { ...scans.groupOf(scan), status: "running" },
    add,
    remove: [`remaining.${batch}.${chunk}`],
    ...(rest && { set: { [`remaining.${batch}.${rest.chunk}`]: rest.emails } }),
    if: condition(`attribute_exists(#remaining.#${batch}.#${chunk})`),
  });
  return [{ put: closedRow(key) }, ...scans.writes(org, [change])];
};
