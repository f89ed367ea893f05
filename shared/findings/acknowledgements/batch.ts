import { TransactionBudget } from "../../aws/table/budget.ts";
import { condition, exists, type Write } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../counts/counts.ts";
import { levelOf } from "../../hibp/severity.ts";
import { emails, openDifferences } from "../../monitoring/emails/record.ts";
import { type FindingGroup, type FindingRow, findings } from "../record.ts";
import type { Candidate } from "./candidates.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isAsRead,
  lockKeyOf,
  progress,
  purposeOf,
} from "./record.ts";

/** As many of the first candidates as one transaction takes, and at most `maximum`. */
export const firstBatch = (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  candidates: readonly Candidate[],
  maximum: number,
): Candidate[] => {
  const budget = new TransactionBudget([advance(org, row, lock, progress(lock.cursor, lock.acknowledged))]);
  const rest = candidates.slice(0, maximum);
  const end = rest.findIndex((candidate) => !budget.take(writesOf(org, changesOf(row, [candidate]))));
  return end < 0 ? rest : rest.slice(0, end);
};

/** `removed`: e-mails that are not there any more. */
type BatchResult =
  | { outcome: "written"; lock: AcknowledgementLock }
  | { outcome: "changed"; removed: number[] }
  | { outcome: "overtaken" };

/**
 * Changes a batch in one transaction with the cursor, which it moves up to `upTo`. So it is done and counted
 * once, however many workers try. "changed": a finding or e-mail is not as it was read; "overtaken": another
 * worker has gone on, or the request has ended.
 */
export const writeBatch = async (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  batch: readonly Candidate[],
  upTo: number,
): Promise<BatchResult> => {
  const changes = changesOf(row, batch);
  const isCounted = ({ from, to }: FindingChange): boolean =>
    row.follows === undefined || from.acknowledged !== to.acknowledged;
  const counted = changes.filter(isCounted).length;
  const set = progress(upTo, lock.acknowledged + counted);
  const result = await table.attempt(
    table.transact([advance(org, row, lock, set), ...writesOf(org, changes)]),
  );
  if (result.written) return { outcome: "written", lock: { ...lock, ...set } };
  const failed = result.failed.map(({ index }) => index);
  if (failed.includes(0)) return { outcome: "overtaken" };
  const removed = emailWrites(org, changes).filter((_, index) => failed.includes(index + 1));
  return { outcome: "changed", removed: removed.map(({ emailId }) => emailId) };
};

const advance = (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  set: ReturnType<typeof progress>,
): Write => ({ update: lockKeyOf(org, purposeOf(row)), set, if: isAsRead(lock) });

/** A finding that changes its group, and with it perhaps its acknowledgment. */
type FindingChange = Candidate & {
  from: FindingGroup;
  to: FindingGroup;
  /** The new acknowledgment. Null: there is none any more; undefined: it stays. */
  given: FindingRow["acknowledgment"] | null;
};

const changesOf = (row: AcknowledgementRow, batch: readonly Candidate[]): FindingChange[] =>
  batch.map((candidate) => {
    const from = findings.groupOf(candidate);
    const { requestedAt, by, resolution, reason, follows } = row;
    if (follows !== undefined) {
      const isReopened = from.acknowledged && isRaised(from.severity, follows.level);
      const acknowledged = from.acknowledged && !isReopened;
      const to = { ...from, severity: follows.level, acknowledged };
      return { ...candidate, from, to, given: isReopened ? null : undefined };
    }
    const to = { ...from, acknowledged: resolution !== null };
    const given = resolution && { at: requestedAt, by, resolution, reason };
    return { ...candidate, from, to, given };
  });

/** A finding that was acknowledged below high is open again when it rises to high or critical. */
const isRaised = (before: number, after: number): boolean => before < after && after >= levelOf("high");

/**
 * First one write for each e-mail, whatever number of its findings change; then the findings with their
 * counters; then the counts.
 */
const writesOf = (org: number, changes: readonly FindingChange[]): Write[] => [
  ...emailWrites(org, changes).map(({ write }) => write),
  ...findings.writes(
    org,
    changes.map(({ id, from, to, given, acknowledgment }) =>
      findings.change(org, id, {
        from,
        to,
        set: {
          acknowledgment: given ?? undefined,
          severitySince: from.severity === to.severity ? undefined : new Date().toISOString(),
        },
        remove: given === null ? ["acknowledgment"] : [],
        ...(from.acknowledged &&
          given !== undefined && {
            if: condition("#acknowledgment.#at = :at", { at: acknowledgment?.at }),
          }),
      }),
    ),
  ),
  ...counts.writes(org, { findings: changes }),
];

/** Without its e-mail a finding is about to be deleted by the removal of the e-mail. */
const emailWrites = (org: number, changes: readonly FindingChange[]): { emailId: number; write: Write }[] =>
  [...Map.groupBy(changes, ({ emailId }) => emailId)].flatMap(([emailId, ofEmail]) => {
    const key = emails.key(org, emailId);
    const add = openDifferences(ofEmail);
    if (Object.keys(add).length > 0) return { emailId, write: { update: key, add, if: exists } };
    // The e-mail's row counts open findings alone.
    const isStateSame = ofEmail.every(({ given }) => given === undefined);
    return isStateSame ? [] : { emailId, write: { check: key, if: exists } };
  });
