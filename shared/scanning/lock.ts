import type { Invocation } from "../aws/queue/consume.ts";
import { asRead, type Condition } from "../aws/table/condition.ts";
import { dueShard, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { renewalSeconds } from "../contract/scan-timing.ts";

/**
 * An organization's scan lock, which is deleted in the transaction that ends the scan: "the lock names the
 * scan" means "the scan is in progress". The row is also the scan's entry in the due index.
 */
export type ScanLock = {
  scanId: number;
  /** Grows by one with each planner; only the planner with the current one can save. */
  fencingToken: number;
  /** How many sweeps in a row have woken a planner at the same progress. */
  wakes: number;
  /** The scan's progress at the last sweep that woke a planner. */
  progress: string;
  dueShard: string;
  /**
   * When a worker last renewed the lock or a sweep last woke a planner, so that every sweep reads every scan
   * in progress. In the future while a worker waits for HIBP's rate limit.
   */
  dueAt: string;
};

/** The lock of a scan that begins `at` this time (ISO 8601). */
export const newLock = (org: number, scanId: number, at: string): ScanLock => ({
  scanId,
  fencingToken: 0,
  wakes: 0,
  progress: "",
  dueShard: dueShard("SCAN", org),
  dueAt: at,
});

/** A scan that is older is ended, even while its workers make progress. */
export const maximumScanMilliseconds = 24 * 60 * 60 * 1000;

/** A worker of a scan; a planner with its fencing token. */
type Worker = { org: number; scanId: number; fencingToken?: number };

/** The scan is in progress and, for a planner, no other one has acquired a newer fencing token. */
export const heldBy = ({ scanId, fencingToken }: Omit<Worker, "org">): Condition =>
  asRead({ scanId, ...(fencingToken !== undefined && { fencingToken }) });

/**
 * Renews the lock, which every worker does before it writes. False when the worker does not hold it any more. `waitSeconds`: how long
 * the worker waits now, which is no silence.
 */
export const renewLock = (worker: Worker, waitSeconds = 0): Promise<boolean> =>
  changeLock(worker, { dueAt: new Date(Date.now() + waitSeconds * 1_000).toISOString() });

/** Changes the lock if the worker holds it. Returns whether it did. */
const changeLock = async (worker: Worker, set: Partial<ScanLock>): Promise<boolean> =>
  (await table.attempt(table.update(keys.scanLock(worker.org), { set, if: heldBy(worker) }))).written;

/** A planner at work. It can save nothing once another planner has acquired the next fencing token. */
export type Planner = Required<Worker> & { invocation: Invocation };

/**
 * Makes the worker that has a plan message the scan's planner and returns its fencing token, the one after
 * the message's. Undefined when the message is late or repeated, or the scan is over; and when the table's reply was lost, since
 * a second try finds the token already changed. The sweep then wakes another planner.
 */
export const acquireFencingToken = async (worker: Required<Worker>): Promise<number | undefined> => {
  const fencingToken = worker.fencingToken + 1;
  const set = { dueAt: new Date().toISOString(), fencingToken };
  return (await changeLock(worker, set)) ? fencingToken : undefined;
};

/**
 * Renews the lock while `act` runs. A renewal that fails is followed by the next, and a worker that has lost the lock notices when it
 * writes.
 */
export const renewWhile = async <T>(worker: Worker, act: () => Promise<T>): Promise<T> => {
  const timer = setInterval(() => renewLock(worker).catch(() => {}), 1000 * renewalSeconds);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
};
