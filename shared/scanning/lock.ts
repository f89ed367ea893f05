import type { Invocation } from "../aws/queue/consume.ts";
import { alive, type Job, newJob } from "../aws/queue/job.ts";
import { asRead, type Condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { renewalSeconds } from "../contract/job-timing.ts";

/**
 * An organization's scan lock, which is deleted in the transaction that ends the scan: "the lock names the
 * scan" means "the scan is in progress".
 */
export type ScanLock = Job & {
  scanId: number;
  /** Grows by one with each planner; only the planner with the current one can save. */
  fencingToken: number;
};

/** The lock of a scan that begins `at` this time (ISO 8601). */
export const newLock = (org: number, scanId: number, at: string): ScanLock => ({
  scanId,
  fencingToken: 0,
  ...newJob("SCAN", org, at),
});

/** A scan that is older is ended, even while its workers make progress. */
export const maximumScanMilliseconds = 24 * 60 * 60 * 1000;

/** A worker of a scan; a planner with its fencing token. */
type Worker = { org: number; scanId: number; fencingToken?: number };

/** The scan is in progress and, for a planner, no other one has acquired a newer fencing token. */
export const heldBy = ({ scanId, fencingToken }: Omit<Worker, "org">): Condition =>
  asRead({ scanId, ...(fencingToken !== undefined && { fencingToken }) });

/**
 * Renews the lock, which every worker does before it writes. False when the worker does not hold it any
 * more. `waitSeconds`: how long the worker waits now, which is no silence.
 */
export const renewLock = (worker: Worker, waitSeconds = 0): Promise<boolean> =>
  changeLock(worker, alive(waitSeconds));

/** Changes the lock if the worker holds it. Returns whether it did. */
const changeLock = async (worker: Worker, set: Partial<ScanLock>): Promise<boolean> =>
  (await table.attempt(table.update(keys.scanLock(worker.org), { set, if: heldBy(worker) }))).written;

/** A planner at work. It can save nothing once another planner has acquired the next fencing token. */
export type Planner = Required<Worker> & { invocation: Invocation };

/**
 * Makes the worker with a plan message the scan's planner. Returns its fencing token, the one after the
 * message's. Undefined when the message is late or repeated, or the scan is over. Undefined too when the
 * table's reply was lost, since a second try finds the token already changed. The sweep then wakes another
 * planner.
 */
export const acquireFencingToken = async (worker: Required<Worker>): Promise<number | undefined> => {
  const fencingToken = worker.fencingToken + 1;
  return (await changeLock(worker, { ...alive(), fencingToken })) ? fencingToken : undefined;
};

/**
 * Renews the lock while `act` runs. After a failed renewal comes the next. A worker that has lost the lock
 * notices when it writes.
 */
export const renewWhile = async <T>(worker: Worker, act: () => Promise<T>): Promise<T> => {
  const timer = setInterval(() => renewLock(worker).catch(() => {}), 1000 * renewalSeconds);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
};
