import { inTransactions, TransactionBudget } from "../aws/table/budget.ts";
import { absent, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import * as counts from "../counts/counts.ts";
import * as breachDates from "../findings/breach-dates.ts";
import { findings } from "../findings/record.ts";
import { read as readSwitches } from "../findings/rules/switches.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { type Reserved, reserve } from "../lists/blocks.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { findingsRecorded, keyOfScan, wake } from "../outbox/outbox.ts";
import {
  type ChangeWrites,
  type Check,
  firstOf,
  type Grades,
  gradeIn,
  includedDomainOf,
  pendingOf,
  type Rules,
  sizeOf,
  writesOfChange,
} from "./check-writes.ts";
import type { EmailChange } from "./compare-email.ts";

/** A change that is not recorded yet, with ids for its new findings. */
type Open = { change: EmailChange; ids: readonly Reserved[] };

/** As much of an open change as fits into a transaction. */
type Prepared = { open: Open; isWhole: boolean; writes: ChangeWrites };

type Recording = Check & {
  grades: Grades;
  rules: Rules;
  /** What the rows of breach dates are known to hold. */
  dates: Map<number, breachDates.Dates>;
  /** Ids of the e-mails that left the scan. */
  skipped: Set<number>;
};

/**
 * Records the changes of a chunk: findings, what the e-mails hold, and a row of the outbox, together in
 * transactions that do nothing when repeated. E-mails that are no longer part of the scan are skipped.
 *
 * @returns How many e-mails were skipped; undefined when the chunk is closed, so that nothing is
 * written, or the scan is over.
 */
export const recordCheck = async (
  check: Check,
  changes: readonly EmailChange[],
): Promise<number | undefined> => {
  const { org } = check;
  const findingCount = changes.reduce((sum, { found }) => sum + found.length, 0);
  const [breaches, ids] = await Promise.all([
    breachDetails.current(changes.flatMap(({ found }) => found)),
    reserve(org, "FINDING", findingCount),
  ]);
  const grades = new Map([...breaches].map(([id, breach]) => [id, breachDetails.gradeOf(breach)]));
  const rules: Rules = { on: new Set(), breaches };
  const recording: Recording = { ...check, grades, rules, dates: new Map(), skipped: new Set() };
  const open = changes.map((change): Open => ({ change, ids: ids.splice(0, change.found.length) }));
  const isRecorded = await recordAll(recording, open);
  if (findingCount > 0) await wake(org);
  return isRecorded ? recording.skipped.size : undefined;
};

/** Records open changes until none is left. False when the chunk is closed. */
const recordAll = (recording: Recording, all: readonly Open[]): Promise<boolean> => {
  const { org } = recording;
  let open = [...all];
  return withOptimisticRetry(async () => {
    while (open.length > 0) {
      const prepared = await prepare(recording, open);
      await breachDates.widen(
        org,
        prepared.flatMap(({ writes }) => writes.detected),
        recording.dates,
      );
      open = [];
      let refused: table.TransactionRefused | undefined;
      for (const group of inTransactions(prepared, (each) => ownWritesOf(recording, [each]), [
        anyOutboxRow(org),
      ])) {
        const transaction = await table.attempt(table.transact(writesOf(recording, group)));
        if (transaction.written) {
          open.push(...group.flatMap(restOf));
          continue;
        }
        // The first write fails when the chunk is closed, every other one when its row changed after it was read.
        if (transaction.failed.some(({ index }) => index === 0)) return false;
        refused = new table.TransactionRefused(transaction.failed);
        open.push(...group.map((each) => each.open));
      }
      if (refused !== undefined) throw refused;
    }
    return true;
  });
};

/** Reads the e-mails of open changes. Prepares those that are still part of the scan and not recorded yet. */
const prepare = async (recording: Recording, open: readonly Open[]): Promise<Prepared[]> => {
  const isNew = open.some(({ change }) => change.found.length > 0);
  const [rows, switches] = await Promise.all([
    emails.getMany(
      recording.org,
      open.map(({ change }) => change.emailId),
    ),
    isNew ? readSwitches(recording.org) : undefined,
  ]);
  if (switches !== undefined) recording.rules = { ...recording.rules, on: switches.on };
  return open.flatMap((each, index) => {
    const row = rows[index];
    const domain = row && includedDomainOf(recording, row);
    if (row !== undefined && domain !== undefined) return prepareOne(recording, row, domain, each);
    recording.skipped.add(each.change.emailId);
    return [];
  });
};

/** Prepares the largest first part of a change that fits into a transaction; none when it is recorded. */
const prepareOne = (recording: Recording, row: Email, domain: Domain, open: Open): Prepared[] => {
  const pending = pendingOf(row, open.change);
  if (sizeOf(pending) === 0) return [];
  for (let size = Math.min(sizeOf(pending), table.maxTransactionWrites); size > 0; size--) {
    const first = firstOf(pending, size);
    const writes = writesOfChange(recording, row, domain, first, open.ids);
    const one: Prepared = { open, isWhole: sizeOf(first) === sizeOf(pending), writes };
    const budget = new TransactionBudget([anyOutboxRow(recording.org)]);
    if (budget.take(ownWritesOf(recording, [one]))) return [one];
  }
  throw new Error("The writes of one breach do not fit into a transaction");
};

/** What is left of a change whose first part is written. */
const restOf = ({ open, isWhole, writes }: Prepared): Open[] =>
  isWhole ? [] : [{ ...open, ids: open.ids.slice(writes.newFindings.length) }];

/**
 * Takes the place of a transaction's outbox row while the writes are chosen. That row is named after its
 * first finding.
 */
const anyOutboxRow = (org: number): Write => ({ delete: keyOfScan(org, 0, "findings") });

/** The writes of some e-mails' changes, as one transaction makes them. */
const writesOf = (recording: Recording, prepared: readonly Prepared[]): Write[] => {
  const { org, scanId, isFirst, grades } = recording;
  const detected = prepared.flatMap(({ writes }) => writes.detected);
  const sensitive = detected.map(({ breachId }) => breachId).filter((id) => gradeIn(grades, id).isSensitive);
  const found = {
    scanId,
    isFirst,
    findingIds: new Set(detected.map(({ id }) => id)),
    ...(sensitive.length > 0 && { sensitive: new Set(sensitive) }),
  };
  return [
    ...ownWritesOf(recording, prepared),
    ...(detected.length > 0 ? [findingsRecorded(org, found)] : []),
  ];
};

/** The same without the row of the outbox. */
const ownWritesOf = ({ org, scanId, batch, chunk }: Recording, prepared: readonly Prepared[]): Write[] => {
  const changes = prepared.map(({ writes }) => writes);
  return [
    { check: keys.closedChunk(org, scanId, batch, chunk), if: absent },
    ...emails.writes(
      org,
      changes.map(({ email }) => email),
    ),
    ...findings.writes(
      org,
      changes.flatMap(({ newFindings }) => newFindings),
    ),
    ...counts.writes(org, {
      findings: changes.flatMap(({ detected }) => detected),
      breachedEmails: changes.reduce((sum, { breachedEmails }) => sum + breachedEmails, 0),
      people: changes.flatMap(({ people }) => people),
    }),
    ...changes.flatMap(({ seenFindings }) => seenFindings),
  ];
};
