import { type Condition, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { acknowledgementRenewalSeconds } from "../../contract/acknowledgement-timing.ts";

/**
 * An organization's lock for acknowledging many findings, which is deleted in the transaction that ends the request: "the lock
 * names the request" means "the request is in progress". The row is also the request's entry in the due index.
 */
export type AcknowledgementLock = {
  acknowledgementId: number;
  /** How many sweeps in a row have woken a worker without finding progress. */
  fruitlessWakes: number;
  /** How far the request was at the last of them. */
  progress: string;
  dueShard: string;
  /** When a worker last renewed the lock or a sweep last woke a worker. */
  dueAt: string;
};

export const heldBy = (id: number): Condition => condition("#acknowledgementId = :id", { id });

/** Tells sweeps that somebody is at work. False when the request has ended or its organization is being deleted. */
export const renewLock = async (org: number, id: number): Promise<boolean> => {
  const { written } = await table.attempt(
    table.update(keys.acknowledgementLock(org), {
      set: { dueAt: new Date().toISOString() },
      if: heldBy(id),
    }),
  );
  return written;
};

/** A function to call before each step: renews the lock when that is due, and returns false once the lock is lost. */
export const lockRenewer = (org: number, id: number): (() => Promise<boolean>) => {
  let renewedAt = 0;
  let last: Promise<boolean> = Promise.resolve(true);
  return () => {
    if (Date.now() - renewedAt >= 1000 * acknowledgementRenewalSeconds) {
      renewedAt = Date.now();
      last = last.then((isHeld) => isHeld && renewLock(org, id));
    }
    return last;
  };
};
