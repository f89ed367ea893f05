/** The chunks of a scan's work: how they are cut and named, which are left, and how one is closed. */
import { rangeOf } from "../emails/watermark.ts";
import type { EmailChange } from "../queue/messages.ts";
import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { ScanRow } from "./record.ts";

/** Longest message about a chunk, in bytes of JSON: ten fit into a batch. */
const chunkBytes = 80_000;

/**
 * A few changes of each of some blocks go into one chunk, up to so many: every chunk costs a write of the scan, but is
 * also what is done side by side, and what is done again when a worker dies.
 */
const changesPerSparseChunk = 100;

/**
 * Ranges that a chunk can have: its name is a placeholder in conditions, for which DynamoDB has 255 bytes, and an id has up to
 * 16 digits.
 */
export const maximumRanges = 7;

/** The name of a chunk: its ranges (watermark.ts), `first_last` or `first_last__first_last`. */
export const chunkName = (ranges: readonly string[]): string => ranges.join("__");

/** A chunk of single look-ups (look-up.ts) can have the range of one of a domain answer; its name starts with an L. */
export const lookupChunk = (range: string): string => `L${range}`;

export const isLookup = (chunk: string): boolean => chunk.startsWith("L");

/** The ranges of a chunk, ascending; of look-ups there is one. */
export const rangesOfChunk = (chunk: string): { fromId: number; toId: number }[] =>
  chunk.replace(/^L/, "").split("__").map(rangeOf);

/** A chunk that is not done, and how many e-mails it is for. */
export type ChunkLeft = { batch: number; chunk: string; emails: number };

export const chunksLeft = (scan: Pick<ScanRow, "remaining">): ChunkLeft[] =>
  Object.entries(scan.remaining).flatMap(([batch, chunks]) =>
    Object.entries(chunks).map(([chunk, emails]) => ({ batch: Number(batch), chunk, emails })),
  );

/** The changes of each block, as chunks of one or more parts, each part of one block. */
export const inChunks = (blocks: readonly EmailChange[][]): EmailChange[][][] => {
  const chunks: EmailChange[][][] = [];
  let chunk: EmailChange[][] = [];
  let count = 0;
  let bytes = 0;
  const begin = (): void => {
    chunk = [];
    chunks.push(chunk);
    count = 0;
    bytes = 0;
  };
  for (const changes of blocks) {
    const isFull = count + changes.length > changesPerSparseChunk || chunk.length === maximumRanges;
    if (chunks.length === 0 || isFull) begin();
    let part: EmailChange[] = [];
    for (const change of changes) {
      const size = JSON.stringify(change).length;
      if (bytes > 0 && bytes + size > chunkBytes) {
        begin();
        part = [];
      }
      if (part.length === 0) chunk.push(part);
      part.push(change);
      count++;
      bytes += size;
    }
  }
  return chunks;
};

/** Of a chunk of which nothing is written any more. */
export type ClosedChunk = {
  /** Of one that is done: how many of its e-mails were left out, and so not checked. Missing when the scan's end closed it. */
  skipped?: number;
};

/** No worker is at work for longer. */
const closedSeconds = 86_400;

/** From here on nobody writes anything of this chunk any more: it is done, or its scan ends without it. */
export const close = async (
  org: number,
  scanId: number,
  batch: number,
  chunk: string,
  closed: ClosedChunk = {},
): Promise<void> => {
  const expiry = { [timeToLive]: Math.floor(Date.now() / 1000) + closedSeconds };
  await table.put({ ...keys.closedChunk(org, scanId, batch, chunk), ...closed, ...expiry });
};
