import { TransactionBudget } from "../../aws/table/budget.ts";
import { condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../lists/counts.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { findings } from "../record.ts";
import type { Candidate } from "./candidates.ts";
import { type AcknowledgementLock, type AcknowledgementRow, isAsRead, progress } from "./record.ts";

/** As many of the first candidates as one transaction takes, and at most `maximum`. */
export const firstBatch = (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  candidates: readonly Candidate[],
  maximum: number,
): Candidate[] => {
  const budget = new TransactionBudget([advance(org, lock, lock)]);
  const rest = candidates.slice(0, maximum);
  const end = rest.findIndex((candidate) => !budget.take(writesOf(org, row, [candidate])));
  return end < 0 ? rest : rest.slice(0, end);
};

/** `removed`: e-mails that are not there any more. */
export type BatchResult =
  | { outcome: "written"; lock: AcknowledgementLock }
  | { outcome: "changed"; removed: number[] }
  | { outcome: "overtaken" };

/**
 * Acknowledges a batch in one transaction with the cursor, which it moves up to `upTo`, so that it is done and counted once, however
 * many workers try. "changed": a finding or e-mail is not as it was read; "overtaken": another worker has gone on, or the
 * request has ended.
 */
export const writeBatch = async (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  batch: readonly Candidate[],
  upTo: number,
): Promise<BatchResult> => {
  const next = { ...lock, cursor: upTo, acknowledged: lock.acknowledged + batch.length };
  const result = await table.attempt(
    table.transact([advance(org, lock, next), ...writesOf(org, row, batch)]),
  );
  if (result.written) return { outcome: "written", lock: next };
  const failed = result.failed.map(({ index }) => index);
  if (failed.includes(0)) return { outcome: "overtaken" };
  const removed = byEmail(batch).filter((_, index) => failed.includes(index + 1));
  return { outcome: "changed", removed: removed.map(([emailId]) => emailId) };
};

const advance = (org: number, from: AcknowledgementLock, to: AcknowledgementLock): Write => ({
  update: keys.acknowledgementLock(org),
  set: progress(to.cursor, to.acknowledged),
  if: isAsRead(from),
});

const byEmail = (batch: readonly Candidate[]): [number, Candidate[]][] => [
  ...Map.groupBy(batch, ({ emailId }) => emailId),
];

/** The e-mails, each once for all of its findings and first of all; the findings with the counters of their blocks; the counts. */
const writesOf = (
  org: number,
  { slot, by, resolution, reason }: AcknowledgementRow,
  batch: readonly Candidate[],
): Write[] => {
  const acknowledgment = { at: slot.createdAt, by, resolution, reason };
  const changes = batch.map((each) => {
    const from = findings.groupOf(each);
    return { ...each, from, to: { ...from, acknowledged: true } };
  });
  return [
    ...byEmail(batch).map(([emailId, ofEmail]): Write => {
      const open = ofEmail.filter((each) => !findings.groupOf(each).acknowledged).length;
      const key = emails.key(org, emailId);
      // Without its e-mail a finding is about to be deleted by the removal of the e-mail.
      return open === 0
        ? { check: key, if: exists }
        : { update: key, add: { unacknowledged: -open }, if: exists };
    }),
    ...findings.writes(
      org,
      changes.map(({ id, from, to, acknowledgedAt }) =>
        findings.change(org, id, {
          from,
          to,
          set: { acknowledgment },
          ...(from.acknowledged && { if: condition("#acknowledgment.#at = :at", { at: acknowledgedAt }) }),
        }),
      ),
    ),
    ...counts.writes(org, { findings: changes }),
  ];
};
