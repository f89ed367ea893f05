import { type Condition, condition } from "../table/condition.ts";
import { countedList } from "../table/counted-list.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { ScanStatus, ScanType } from "./schema.ts";

/**
 * A scan as it is stored. Its domains are planned in batches, and a batch's work is cut into chunks (chunks.ts): ranges of
 * e-mail ids, each inside one block. `remaining` names the chunks that are not done, by batch, with how many e-mails each still has to check, so
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
};

export type ScanFacet = { type: ScanType; status: ScanStatus };

export const scans = countedList<ScanFacet, ScanRow>("SCAN", { type: "word", status: "word" });

export type ScanRecord = NonNullable<Awaited<ReturnType<typeof scans.get>>>;

/**
 * The organization's scan lock, held by the scan in progress; it goes in the transaction that ends the scan, so "the lock
 * names the scan" means "the scan is in progress". It is also the scan's entry in the due index.
 */
export type ScanLock = {
  scanId: number;
  /** Whose turn it is to plan (turn.ts), and who took the last one. */
  planTurn: number;
  planToken?: string;
  /** When a worker last said that it is at work. */
  renewedAt: string;
  /** Sweeps that found nothing done since the one before, although somebody had come. */
  fruitlessSweeps: number;
  /** How much was done when a sweep last looked. */
  progress: string;
  dueShard: string;
  /** When a worker was last at work or woken: a sweep looks at every scan in progress, and at how long it was silent. */
  dueAt: string;
};

/** Longer than any worker can be at work without saying so: only then a scan without progress is given up. */
export const leaseMilliseconds = 360_000;

/** After so long a scan is ended, however busy it is. */
export const maximumScanMilliseconds = 24 * 60 * 60 * 1000;

export const heldBy = (scanId: number): Condition => condition("#scanId = :scanId", { scanId });

/** The scan is in progress, and nobody took the turn to plan it since. */
export const heldInTurn = (scanId: number, turn: number): Condition =>
  condition("#scanId = :scanId AND #planTurn = :turn", { scanId, turn });

/**
 * Says that a worker is at work for a scan; every worker does so before it writes. False when the scan is over, or with
 * `turn`: when another planner took over.
 */
export const renew = (org: number, scanId: number, turn?: number): Promise<boolean> => {
  const now = new Date().toISOString();
  return changeLock(
    org,
    { renewedAt: now, dueAt: now },
    turn === undefined ? heldBy(scanId) : heldInTurn(scanId, turn),
  );
};

/** False when the condition does not hold; unless the lock is as this very write made it, whose reply got lost. */
export const changeLock = async (
  org: number,
  set: Partial<ScanLock>,
  given: Condition,
  isChanged: (lock: ScanLock) => boolean = () => false,
): Promise<boolean> => {
  try {
    await table.update(keys.scanLock(org), { set, if: given });
    return true;
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
    return error.item !== undefined && isChanged(error.item as ScanLock);
  }
};

/** More often than the sweep takes for silence. */
export const renewalMilliseconds = 3_000;

/**
 * For work that takes long: says every few seconds that a worker is at work, so that the sweep neither wakes another for the
 * same nor gives the scan up. False when the scan is over.
 */
export const renewing = (org: number, scanId: number, now = Date.now): (() => Promise<boolean>) => {
  let at = now();
  let isOver = false;
  return async () => {
    if (!isOver && now() - at >= renewalMilliseconds) {
      at = now();
      isOver = !(await renew(org, scanId));
    }
    return !isOver;
  };
};
