/**
 * What happened that somebody may have to be told of. Whoever records it writes a row of the outbox in the
 * same transaction. Alerting turns the rows into deliveries, those of a scan in the order of their names
 * (alerting/outbox).
 */
import { randomUUID } from "node:crypto";
import * as queue from "../aws/queue/queue.ts";
import { absent, type Write } from "../aws/table/condition.ts";
import { dueShard, type Key, keys, padded } from "../aws/table/keys.ts";
import { lostAfterSeconds, secondsAfter } from "../contract/alert-timing.ts";

/** An event names at most this many breaches of an address; more become further events. */
export const breachesPerEvent = 75;

/**
 * Findings that one transaction of a scan has recorded. `sensitive`: those of their breaches that were sensitive then.
 */
export type NewFindings = {
  type: "findings";
  scanId: number;
  /** No scan of the organization had completed before this one. */
  isFirst: boolean;
  findingIds: Set<number>;
  sensitive?: Set<number>;
  /** The only channel that is told: it has become a webhook, and had gathered them. */
  to?: number;
};

/** Findings that one transaction of a request has opened again, because no rule holds that had ended them. */
export type Reopened = { type: "reopened"; requestId: number; findingIds: Set<number> };

export type Ended = {
  type: "ended";
  scanId: number;
  isFirst: boolean;
  isCompleted: boolean;
  scannedCount: number;
  newBreachCount: number;
  failedCount: number;
  totalEmails: number;
  /** Why it failed, or why some e-mails did. */
  error: string | null;
};

/** A breach whose severity has risen, with levels before and after, and the findings that followed or were reopened. */
export type Risen = {
  type: "risen";
  breachId: number;
  from: number;
  level: number;
  people: number;
  reopened: number;
};

/** A problem in words. `to`: the only channels that are told. Default: all that want scan errors. */
export type Problem = { type: "problem"; error: string; scanId?: number; to?: number[] };

/** A row of a scan: one of each `kind`, in the order of the kinds. `finding`: the first of a row. */
export const keyOfScan = (
  org: number,
  scanId: number,
  kind: "collecting" | "findings" | "ended",
  finding = 0,
): Key => {
  const place = { collecting: "0", findings: `1#${padded(finding)}`, ended: "2" }[kind];
  return keys.outbox(org, `SCAN#${padded(scanId)}#${place}`);
};

/**
 * The write for the transaction that records findings. The row is not due: the scan's end, which is, makes
 * the worker look at all rows before it.
 */
export const findingsRecorded = (org: number, recorded: Omit<NewFindings, "type">): Write => {
  const [first] = recorded.findingIds;
  return recorded.to === undefined
    ? {
        put: { ...keyOfScan(org, recorded.scanId, "findings", first), type: "findings", ...recorded },
        if: absent,
      }
    : { put: { ...newKey(org), type: "findings", ...recorded, ...due(org) } };
};

export const scanEnded = (org: number, ended: Omit<Ended, "type">): Write => ({
  put: { ...keyOfScan(org, ended.scanId, "ended"), type: "ended", ...ended, ...due(org) },
  if: absent,
});

export const findingsReopened = (org: number, requestId: number, findingIds: Set<number>): Write => {
  const name = `REOPENED#${padded(requestId)}#${padded(Math.min(...findingIds))}`;
  return {
    put: { ...keys.outbox(org, name), type: "reopened", requestId, findingIds, ...due(org) },
  };
};

export const severityRisen = (org: number, risen: Omit<Risen, "type">): Write => ({
  put: { ...newKey(org), type: "risen", ...risen, ...due(org) },
});

export const problemOccurred = (org: number, problem: Omit<Problem, "type">): Write => ({
  put: { ...newKey(org), type: "problem", ...problem, ...due(org) },
});

const newKey = (org: number): Key => keys.outbox(org, `AT#${new Date().toISOString()}#${randomUUID()}`);

/** A row is due once the message that should wake its worker counts as lost. */
export const due = (org: number, at = secondsAfter(new Date(), lostAfterSeconds)) => ({
  dueShard: dueShard("OUTBOX", org),
  dueAt: at,
});

/** Wakes the worker of an organization's outbox. If SQS does not take the message, the row wakes it once it is due. */
export const wake = async (org: number): Promise<void> => {
  await queue.sendPossible("outbox", [{ message: { organizationId: org }, group: String(org) }]);
};
