/** A scan has one planner at a time: whoever took the last turn. */
import { randomUUID } from "node:crypto";
import type { Invocation } from "../queue/consume.ts";
import {
  changeLock,
  heldInTurn,
  maximumScanMilliseconds,
  renew,
  renewalMilliseconds,
  type ScanRecord,
} from "./record.ts";

/** `turn`: of this planner; nothing is saved when another one took the next. */
export type Scanned = { org: number; scanId: number; turn: number; invocation: Invocation };

/** How far a planner came: to the end; it has to go on after a delay; or another one does, or nobody has to. */
export type Outcome = "planned" | { delaySeconds: number } | "over";

/**
 * Makes whoever has a plan message the scan's one planner, with the next turn; one that is still at work then saves nothing more.
 * False: the message is late or repeated, or the scan is over.
 */
export const takeTurn = (org: number, scanId: number, turn: number): Promise<boolean> => {
  const now = new Date().toISOString();
  const planToken = randomUUID();
  const taken = { renewedAt: now, dueAt: now, planTurn: turn + 1, planToken };
  // The token: the reply to this very write can get lost, and the client tries again.
  return changeLock(org, taken, heldInTurn(scanId, turn), (lock) => lock.planToken === planToken);
};

/**
 * A planner waits for so long before its next message: the sweep is not to take that for silence. But it only sees what is due, and
 * has to see when the scan's time is over, however often its planner waits.
 */
export const pausePlanning = async (
  org: number,
  scan: Pick<ScanRecord, "id" | "createdAt">,
  turn: number,
  seconds: number,
): Promise<void> => {
  const now = Date.now();
  const endsAt = Date.parse(scan.createdAt) + maximumScanMilliseconds;
  const dueAt = new Date(Math.min(now + seconds * 1_000, endsAt)).toISOString();
  await changeLock(org, { renewedAt: new Date(now).toISOString(), dueAt }, heldInTurn(scan.id, turn));
};

/** As `renewing`, of a planner, which also waits for answers: while `act` runs. */
export const whileRenewing = async <T>(
  org: number,
  scanId: number,
  turn: number,
  act: () => Promise<T>,
): Promise<T> => {
  // One that fails is followed by the next; that another planner took over shows when something is saved.
  const timer = setInterval(() => renew(org, scanId, turn).catch(() => {}), renewalMilliseconds);
  try {
    return await act();
  } finally {
    clearInterval(timer);
  }
};
