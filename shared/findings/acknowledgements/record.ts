/** The rows of a request to change many findings: what was asked for, and how far it is. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { alive, type Job, newJob } from "../../aws/queue/job.ts";
import * as queue from "../../aws/queue/queue.ts";
import { asRead, type Condition } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import type { Resolution } from "../finding-schema.ts";
import type { Selection } from "./selection.ts";

/**
 * What becomes of the findings: people have them acknowledged or reopened, and the service lets those of
 * a breach follow its severity.
 */
export type Purpose = "acknowledge" | "reopen" | "follow";

/** Written when the request is made and when it ends. */
export type AcknowledgementRow = {
  id: number;
  status: "running" | "completed" | "failed";
  matching: number;
  /** How many were acknowledged or reopened. Set at the end; before that, the lock knows. */
  acknowledged?: number;
  completedAt: string | null;
  /** ISO 8601. The time of the acknowledgment of each finding. */
  requestedAt: string;
  by: Actor;
  /** Null where nothing is acknowledged. */
  resolution: Resolution | null;
  reason: string | null;
  /** What was asked for, in words of the log entry; ends with a space, or is empty. */
  about?: string;
  /** Removed at the end, since it can be large. */
  selection?: Selection;
  /**
   * The breach and the level that its findings get, where they follow its severity; `from`: the least
   * that one of them has.
   */
  follows?: { breachId: number; level: number; from: number };
};

/**
 * The present time, ISO 8601. As that of a log entry it is never earlier than an acknowledgment that is
 * there already, although clocks differ.
 */
export const timeOfRequest = async (org: number): Promise<string> => (await activity.slot(org)).createdAt;

export const purposeOf = ({ follows, resolution }: AcknowledgementRow): Purpose => {
  if (follows !== undefined) return "follow";
  return resolution === null ? "reopen" : "acknowledge";
};

/** People share one lock. The service has its own, so that neither has to wait for the other. */
export const lockKeyOf = (org: number, purpose: Purpose): Key =>
  purpose === "follow" ? keys.severityLock(org) : keys.acknowledgementLock(org);

/**
 * An organization's lock for changing many findings, which is deleted in the transaction that ends the
 * request: "the lock names the request" means "the request is in progress". The row also says how far
 * the request is.
 */
export type AcknowledgementLock = Job & {
  acknowledgementId: number;
  /** Findings with ids up to this are done. */
  cursor: number;
  acknowledged: number;
  /**
   * Of the service's lock: the level at which findings of a breach last followed it, so that people know
   * of a rise to it.
   */
  [reported: `reported${number}`]: number | undefined;
};

export const newLock = (org: number, acknowledgementId: number): AcknowledgementLock => ({
  acknowledgementId,
  ...newJob("ACKNOWLEDGEMENT", org),
  ...progress(0, 0),
});

/** The request is as far as it was read: no other worker has gone on since, and it has not ended. */
export const isAsRead = ({ acknowledgementId, cursor, acknowledged }: AcknowledgementLock): Condition =>
  asRead({ acknowledgementId, cursor, acknowledged });

/** What a worker sets in the lock with each step. */
export const progress = (cursor: number, acknowledged: number) => ({
  cursor,
  acknowledged,
  ...alive(),
});

/** Sends the message that wakes a worker for a request. If SQS does not take it, the next sweep sends it. */
export const wake = (org: number, acknowledgementId: number): Promise<void> =>
  queue.send("acknowledgements", { organizationId: org, acknowledgementId }, { group: String(org) });
