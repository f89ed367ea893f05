import type { Invocation } from "../aws/queue/consume.ts";
import { type Condition, condition } from "../aws/table/condition.ts";
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

export const heldBy = (scanId: number): Condition => condition("#scanId = :scanId", { scanId });

/** The scan is in progress, and no planner has acquired a newer fencing token. */
export const heldWithToken = (scanId: number, fencingToken: number): Condition =>
  condition("#scanId = :scanId AND #fencingToken = :fencingToken", { scanId, fencingToken });

/**
 * Renews the lock, which every worker does before it writes. False when the scan is over or, for a planner
 * (with `fencingToken`), when another planner took over. `waitSeconds`: how long the worker waits now, which is no silence.
 */
export const renewLock = (
  org: number,
  scanId: number,
  fencingToken?: number,
  waitSeconds = 0,
): Promise<boolean> => {
  const dueAt = new Date(Date.now() + waitSeconds * 1_000).toISOString();
  const held = fencingToken === undefined ? heldBy(scanId) : heldWithToken(scanId, fencingToken);
  return changeLock(org, { dueAt }, held);
};

/** Changes the lock if `expected` holds. Returns whether it did. */
const changeLock = async (org: number, set: Partial<ScanLock>, expected: Condition): Promise<boolean> =>
  (await table.attempt(table.update(keys.scanLock(org), { set, if: expected }))).written;

/** A planner at work. It can save nothing once another planner has acquired the next fencing token. */
export type Planner = { org: number; scanId: number; fencingToken: number; invocation: Invocation };

/**
 * Makes the worker that has a plan message the scan's planner and returns its fencing token, the one after
 * the message's. Undefined when the message is late or repeated, or the scan is over; and when the table's reply was lost, since
 * the SDK's second try finds the token already changed. The sweep then wakes another planner.
 */
export const acquireFencingToken = async (
  org: number,
  scanId: number,
  messageToken: number,
): Promise<number | undefined> => {
  const fencingToken = messageToken + 1;
  const set = { dueAt: new Date().toISOString(), fencingToken };
  return (await changeLock(org, set, heldWithToken(scanId, messageToken))) ? fencingToken : undefined;
};

/** Renews the lock for a planner while `act` runs, which mostly waits for answers. */
export const renewWhile = async <T>(
  { org, scanId, fencingToken }: Planner,
  act: () => Promise<T>,
): Promise<T> => {
  // A renewal that fails is followed by the next, and a planner that lost its token notices when it saves.
  const timer = setInterval(
    () => renewLock(org, scanId, fencingToken).catch(() => {}),
    1000 * renewalSeconds,
  );
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
};
