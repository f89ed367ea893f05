import { rangeOf } from "../emails/watermark.ts";
import { type Condition, condition } from "../table/condition.ts";
import { countedList } from "../table/counted-list.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

/**
 * A scan as it is stored. Its domains are planned in batches, and a batch's work is cut into chunks: ranges of e-mail ids,
 * each inside one block. `remaining` names the chunks that are not done, by batch, with how many e-mails each still has to check, so
 * that whoever empties it completes the scan, exactly once. Every chunk that is done rewrites it: it has to stay small.
 */
export type ScanRow = {
  startedAt: string | null;
  completedAt: string | null;
  errorMessage: string | null;
  findingsItemized: boolean;
  totalEmails: number;
  scannedEmails: number;
  failedEmails: number;
  newBreachesFound: number;
  /** Whether every domain is planned: only then an empty `remaining` means that all is done. */
  planned: boolean;
  remaining: Record<string, Record<string, number>>;
  /** The first findings block that this scan can have written to. */
  findingsFromBlock: number;
};

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

export const chunksLeft = (
  scan: Pick<ScanRow, "remaining">,
): { batch: number; chunk: string; emails: number }[] =>
  Object.entries(scan.remaining).flatMap(([batch, chunks]) =>
    Object.entries(chunks).map(([chunk, emails]) => ({ batch: Number(batch), chunk, emails })),
  );

export type ScanFacet = { type: string; status: string };

export const scans = countedList<ScanFacet, ScanRow>("SCAN", { type: "word", status: "word" });

export type ScanRecord = NonNullable<Awaited<ReturnType<typeof scans.get>>>;

/**
 * The organization's scan lock, held by the scan in progress; it goes in the transaction that ends the scan, so "the lock
 * names the scan" means "the scan is in progress". It is also the scan's entry in the due index.
 */
export type ScanLock = {
  scanId: number;
  /** When a worker last said that it is at work. */
  renewedAt: string;
  /** Sweeps that found nothing done since the one before. */
  fruitlessSweeps: number;
  /** How much was done when a sweep last looked. */
  progress: string;
  dueShard: string;
  /** When a worker was last at work or woken: a sweep looks at every scan in progress, and at how long it was silent. */
  dueAt: string;
};

/**
 * A worker is at work for at most as long as its function may run. A scan is ended from outside only when none has said
 * so for longer: a late worker of an ended scan then writes nothing.
 */
export const leaseMilliseconds = 360_000;

export const heldBy = (scanId: number): Condition => condition("#scanId = :scanId", { scanId });

/**
 * Says that a worker is at work for a scan; every worker does so before it writes. False when the scan is over.
 */
export const renew = async (org: number, scanId: number): Promise<boolean> => {
  const now = new Date().toISOString();
  try {
    await table.update(keys.scanLock(org), {
      set: { renewedAt: now, dueAt: now },
      if: heldBy(scanId),
    });
    return true;
  } catch (error) {
    if (error instanceof table.ConditionFailed) return false;
    throw error;
  }
};

/** More often than the sweep takes for silence. */
const renewalMilliseconds = 3_000;

/**
 * For work that takes long: says every few seconds that a worker is at work, so that the sweep neither wakes another for the
 * same nor gives the scan up. False when the scan is over.
 */
export const renewing = (org: number, scanId: number, now = Date.now): (() => Promise<boolean>) => {
  let at = now();
  return async () => {
    if (now() - at < renewalMilliseconds) return true;
    at = now();
    return renew(org, scanId);
  };
};
