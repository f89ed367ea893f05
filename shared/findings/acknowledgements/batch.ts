import { TransactionBudget } from "../../aws/table/budget.ts";
import { condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../counts/counts.ts";
import { levelOf } from "../../hibp/severity.ts";
import { blockOf } from "../../lists/blocks.ts";
import { changeFindings, type Email, emails } from "../../monitoring/emails/record.ts";
import { emailsById } from "../finding.ts";
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
  const end = rest.findIndex((candidate) => {
    const ofFindings = findingWrites(org, changesOf(row, [candidate]));
    return !budget.take([...anyEmailWrites(org, candidate.emailId), ...ofFindings]);
  });
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
  const byEmail = Map.groupBy(changes, ({ emailId }) => emailId);
  const rows = await emailsById(org, [...byEmail.keys()]);
  const removed = [...byEmail.keys()].filter((emailId) => !rows.has(emailId));
  if (removed.length > 0) return { outcome: "changed", removed };
  const ofEmails = [...rows.values()].map((email) => ({ email, changes: byEmail.get(email.id) ?? [] }));
  const result = await table.attempt(
    table.transact([
      advance(org, row, lock, set),
      ...emailWrites(org, ofEmails),
      ...findingWrites(org, changes),
    ]),
  );
  if (result.written) return { outcome: "written", lock: { ...lock, ...set } };
  const isOvertaken = result.failed.some(({ index }) => index === 0);
  return isOvertaken ? { outcome: "overtaken" } : { outcome: "changed", removed: [] };
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

/** The findings with their counters; then the counts. */
const findingWrites = (org: number, changes: readonly FindingChange[]): Write[] => [
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

/** Takes the place of an e-mail and its counters while the batch is chosen. The e-mail is not read yet. */
const anyEmailWrites = (org: number, emailId: number): Write[] => [
  { delete: emails.key(org, emailId) },
  { delete: keys.directory(org, emails.kind, blockOf(emailId)) },
];

/** One write for each e-mail, whatever number of its findings change, and the e-mails' counters. */
const emailWrites = (
  org: number,
  ofEmails: readonly { email: Email; changes: readonly FindingChange[] }[],
): Write[] => {
  const isOpenSame = ({ from, to }: FindingChange): boolean => from.acknowledged && to.acknowledged;
  const [counted, others] = [
    ofEmails.filter(({ changes }) => !changes.every(isOpenSame)),
    ofEmails.filter(({ changes }) => changes.every(isOpenSame)),
  ];
  return [
    ...emails.writes(
      org,
      counted.map(({ email, changes }) => changeFindings(org, email, changes)),
    ),
    // Without its e-mail a finding is about to be deleted by the removal of the e-mail.
    ...others
      .filter(({ changes }) => changes.some(({ given }) => given !== undefined))
      .map(({ email }): Write => ({ check: emails.key(org, email.id), if: exists })),
  ];
};
