/** A scan has one planner at a time: the one that holds the scan lock's current fencing token. */
import type { Invocation } from "../aws/queue/consume.ts";
import { changeLock, heldWithToken, renewalMilliseconds, renewLock } from "./lock.ts";

/** A planner at work. It can save nothing once another planner has acquired the next fencing token. */
export type Planner = { org: number; scanId: number; fencingToken: number; invocation: Invocation };

/**
 * How far a planner came. "planned": to the end. `delaySeconds`: a message has to wake a planner after this
 * delay. "over": the scan has ended, or another planner took over.
 */
export type PlanProgress = "planned" | { delaySeconds: number } | "over";

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
  const now = new Date().toISOString();
  const fencingToken = messageToken + 1;
  const isAcquired = await changeLock(
    org,
    { renewedAt: now, dueAt: now, fencingToken },
    heldWithToken(scanId, messageToken),
  );
  return isAcquired ? fencingToken : undefined;
};

/** Renews the lock for a planner while `act` runs, which mostly waits for answers. */
export const renewWhile = async <T>(
  org: number,
  scanId: number,
  fencingToken: number,
  act: () => Promise<T>,
): Promise<T> => {
  // A renewal that fails is followed by the next, and a planner that lost its token notices when it saves.
  const timer = setInterval(() => renewLock(org, scanId, fencingToken).catch(() => {}), renewalMilliseconds);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
};
