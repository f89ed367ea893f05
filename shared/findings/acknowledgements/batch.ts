import { TransactionBudget } from "../../aws/table/budget.ts";
import { allOf, asRead, type Condition, condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../counts/counts.ts";
import { levelOf } from "../../hibp/severity.ts";
import { blockOf } from "../../lists/blocks.ts";
import { changeFindings, type Email, emails } from "../../monitoring/emails/record.ts";
import { findingsReopened } from "../../outbox/outbox.ts";
import { emailsById } from "../finding.ts";
import { type Acknowledgment, endedByOf, type FindingGroup, findings, ruleOf } from "../record.ts";
import { factsOf } from "../rules/rule.ts";
import type { RuleId } from "../rules/rule-schema.ts";
import type { Switches } from "../rules/switches.ts";
import type { Candidate } from "./candidates.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isAsRead,
  isOfPeople,
  lockKeyOf,
  progress,
  purposeOf,
  type RuleCounts,
} from "./record.ts";

/** As many of the first candidates as one transaction takes, and at most `maximum`. */
export const firstBatch = (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  candidates: readonly Candidate[],
  maximum: number,
): Candidate[] => {
  const budget = new TransactionBudget([
    advance(org, row, lock, progress(lock.cursor, lock.acknowledged)),
    // The switches of rules, and the row of the outbox.
    ...(isOfPeople(row) ? [] : [{ delete: keys.rules(org) }, { delete: keys.outbox(org, "") }]),
  ]);
  const rest = candidates.slice(0, maximum);
  const end = rest.findIndex((candidate) => {
    const ofFindings = findingWrites(org, changesOf(row, [candidate], new Set()));
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
  switches: Switches | undefined,
): Promise<BatchResult> => {
  const changes = changesOf(row, batch, switches?.on ?? new Set());
  const isCounted = ({ from, to }: FindingChange): boolean =>
    row.follows === undefined || from.acknowledged !== to.acknowledged;
  const counted = changes.filter(isCounted).length;
  const set = progress(upTo, lock.acknowledged + counted, withRuleCounts(lock.ruleCounts, changes));
  const byEmail = Map.groupBy(changes, ({ emailId }) => emailId);
  const rows = await emailsById(org, [...byEmail.keys()]);
  const removed = [...byEmail.keys()].filter((emailId) => !rows.has(emailId));
  if (removed.length > 0) return { outcome: "changed", removed };
  const ofEmails = [...rows.values()].map((email) => ({ email, changes: byEmail.get(email.id) ?? [] }));
  if (ofEmails.some((each) => each.changes.some(({ judgement }) => !isJudgedBy(each.email, judgement))))
    return { outcome: "changed", removed: [] };
  const isOfRules = changes.some(({ from, to }) => from.endedBy + to.endedBy > 0);
  const reopened = batch.filter(({ judgement }) => judgement?.verdict.is === "reopened");
  const result = await table.attempt(
    table.transact([
      advance(org, row, lock, set),
      ...emailWrites(org, ofEmails),
      ...findingWrites(org, changes),
      ...(isOfRules && switches !== undefined ? [{ check: keys.rules(org), if: switches.asRead }] : []),
      ...(reopened.length > 0 ? [findingsReopened(org, row.id, new Set(reopened.map(({ id }) => id)))] : []),
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

/** The facts by which rules judged a finding are still those of its e-mail. */
const isJudgedBy = ({ person }: Email, judgement: Candidate["judgement"]): boolean =>
  judgement === undefined ||
  (person?.leftAt === judgement.person?.leftAt &&
    person?.passwordChangedAt === judgement.person?.passwordChangedAt);

/** How many findings each rule has ended, reopened and held, with those of a batch. */
const withRuleCounts = (
  before: RuleCounts | undefined,
  changes: readonly FindingChange[],
): RuleCounts | undefined => {
  if (!changes.some(isOfRule)) return before;
  const { ended, reopened, held } = structuredClone(before ?? { ended: {}, reopened: {}, held: 0 });
  for (const { judgement } of changes) {
    const verdict = judgement?.verdict;
    if (verdict?.is === "ended") ended[verdict.ending.rule] = (ended[verdict.ending.rule] ?? 0) + 1;
    if (verdict?.is === "reopened") reopened[verdict.rule] = (reopened[verdict.rule] ?? 0) + 1;
  }
  const heldNow = changes.filter((each) => each.judgement === undefined && each.to.endedBy > 0).length;
  return { ended, reopened, held: held + heldNow };
};

const isOfRule = ({ judgement, to }: FindingChange): boolean => judgement !== undefined || to.endedBy > 0;

/** A finding that changes its group, and with it perhaps its acknowledgment. */
type FindingChange = Candidate & {
  from: FindingGroup;
  to: FindingGroup;
  /** The new acknowledgment. Null: there is none any more; undefined: it stays. */
  given: Acknowledgment | null | undefined;
  isByPerson: boolean;
};

/** `on`: the rules that are on. These decide on what they have ended, whatever its severity. */
const changesOf = (
  row: AcknowledgementRow,
  batch: readonly Candidate[],
  on: ReadonlySet<RuleId>,
): FindingChange[] =>
  batch.map((candidate): FindingChange => {
    const from = findings.groupOf(candidate);
    const { requestedAt, by, resolution, reason, follows } = row;
    const read = { ...candidate, from, isByPerson: isOfPeople(row) };
    if (candidate.judgement !== undefined) {
      const { verdict } = candidate.judgement;
      if (verdict.is !== "ended")
        return { ...read, to: { ...from, acknowledged: false, endedBy: 0 }, given: null };
      const { rule, fact, resolution } = verdict.ending;
      const to = { ...from, acknowledged: true, endedBy: endedByOf({ rule }) };
      return { ...read, to, given: { at: requestedAt, by, resolution, reason: fact, rule } };
    }
    if (follows !== undefined) {
      const rule = ruleOf(from.endedBy);
      const isOfRule = rule !== undefined && on.has(rule);
      const isReopened = from.acknowledged && !isOfRule && isRaised(from.severity, follows.level);
      const acknowledged = from.acknowledged && !isReopened;
      const endedBy = isReopened ? 0 : from.endedBy;
      const to = { ...from, severity: follows.level, acknowledged, endedBy };
      return { ...read, to, given: isReopened ? null : undefined };
    }
    const to = { ...from, acknowledged: resolution !== null, endedBy: 0 };
    const given = resolution && { at: requestedAt, by, resolution, reason };
    return { ...read, to, given };
  });

/** A finding that was acknowledged below high is open again when it rises to high or critical. */
const isRaised = (before: number, after: number): boolean => before < after && after >= levelOf("high");

/** Nobody has given it another acknowledgment; where a rule ends it, nobody has reopened it since it was read. */
const stillSo = ({ from, given, acknowledgment, isByPerson }: FindingChange): Condition | undefined => {
  if (given === undefined) return undefined;
  if (from.acknowledged) return condition("#acknowledgment.#at = :at", { at: acknowledgment?.at });
  return isByPerson ? undefined : asRead({ isReopened: undefined });
};

/** The findings with their counters; then the counts. */
const findingWrites = (org: number, changes: readonly FindingChange[]): Write[] => [
  ...findings.writes(
    org,
    changes.map((change) => {
      const { id, from, to, given, isByPerson } = change;
      return findings.change(org, id, {
        from,
        to,
        set: {
          acknowledgment: given ?? undefined,
          severitySince: from.severity === to.severity ? undefined : new Date().toISOString(),
          isReopened: isByPerson && given === null ? true : undefined,
          isToldApart: change.judgement?.verdict.is === "reopened" ? true : undefined,
        },
        remove: given === null ? ["acknowledgment"] : [],
        if: stillSo(change),
      });
    }),
  ),
  ...counts.writes(org, {
    findings: changes.map(({ from, to, acknowledgment, given, ...change }) => ({
      ...change,
      from: { ...from, endedAt: acknowledgment?.at },
      to: { ...to, endedAt: (given === undefined ? acknowledgment : given)?.at },
    })),
  }),
];

/** Takes the place of an e-mail and its counters while the batch is chosen. The e-mail is not read yet. */
const anyEmailWrites = (org: number, emailId: number): Write[] => [
  { delete: emails.key(org, emailId) },
  { delete: keys.tally(org, emails.kind, blockOf(emailId)) },
];

const isJudged = (changes: readonly FindingChange[]): boolean =>
  changes.some(({ judgement }) => judgement !== undefined);

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
      counted.map(({ email, changes }) =>
        changeFindings(org, email, changes, isJudged(changes) ? { read: factsOf(email) } : {}),
      ),
    ),
    // Without its e-mail a finding is about to be deleted by the removal of the e-mail.
    ...others
      .filter(({ changes }) => changes.some(({ given }) => given !== undefined))
      .map(
        ({ email, changes }): Write => ({
          check: emails.key(org, email.id),
          if: allOf(exists, isJudged(changes) ? asRead(factsOf(email)) : undefined) ?? exists,
        }),
      ),
  ];
};
