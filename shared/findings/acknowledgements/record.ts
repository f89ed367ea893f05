/** The rows of a request to change many findings: what was asked for, and how far it is. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { alive, type Job, newJob } from "../../aws/queue/job.ts";
import * as queue from "../../aws/queue/queue.ts";
import { asRead, type Condition } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import type { Resolution } from "../finding-schema.ts";
import type { Scope } from "../rules/affected.ts";
import type { RuleId } from "../rules/rule-schema.ts";
import type { Selection } from "./selection.ts";

/**
 * What becomes of the findings: people have them acknowledged or reopened. The service lets those of a breach
 * follow its severity, and rules end findings or open them again.
 */
export type Purpose = "acknowledge" | "reopen" | "follow" | "rules";

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
  /** Which findings rules look at. */
  looks?: Scope;
};

/**
 * The present time, ISO 8601. As that of a log entry it is never earlier than an acknowledgment that is
 * there already, although clocks differ.
 */
export const timeOfRequest = async (org: number): Promise<string> => (await activity.slot(org)).createdAt;

export const purposeOf = ({ follows, looks, resolution }: AcknowledgementRow): Purpose => {
  if (looks !== undefined) return "rules";
  if (follows !== undefined) return "follow";
  return resolution === null ? "reopen" : "acknowledge";
};

/** Whether a person, an API key or a command has made the request. */
export const isOfPeople = (row: AcknowledgementRow): boolean =>
  ["acknowledge", "reopen"].includes(purposeOf(row));

/** People share one lock. The service has others for each of its purposes, so that nobody has to wait. */
export const lockKeyOf = (org: number, purpose: Purpose): Key => {
  if (purpose === "follow") return keys.severityLock(org);
  return purpose === "rules" ? keys.rulesLock(org) : keys.acknowledgementLock(org);
};

/**
 * An organization's lock for changing many findings, which is deleted in the transaction that ends the
 * request: "the lock names the request" means "the request is in progress". The row also says how far
 * the request is.
 */
export type AcknowledgementLock = Job & {
  acknowledgementId: number;
  /** Findings with ids up to this are done. Of rules: e-mails. */
  cursor: number;
  /** Of rules: how many findings changed. */
  acknowledged: number;
  /** Of rules: how many findings each of them has ended and reopened. */
  ruleCounts?: RuleCounts;
  /**
   * Of the service's lock: the level at which findings of a breach last followed it, so that people know
   * of a rise to it.
   */
  [reported: `reported${number}`]: number | undefined;
};

/** By rule. `held`: findings that followed their breach, and that rules keep ended. */
export type RuleCounts = {
  ended: Partial<Record<RuleId, number>>;
  reopened: Partial<Record<RuleId, number>>;
  held: number;
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
export const progress = (cursor: number, acknowledged: number, ruleCounts?: RuleCounts) => ({
  cursor,
  acknowledged,
  ...(ruleCounts && { ruleCounts }),
  ...alive(),
});

/** Sends the message that wakes a worker for a request. If SQS does not take it, the next sweep sends it. */
export const wake = (org: number, acknowledgementId: number): Promise<void> =>
  queue.send("acknowledgements", { organizationId: org, acknowledgementId }, { group: String(org) });
