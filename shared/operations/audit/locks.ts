/** Locks, and the work in progress that holds them. */
import { condition, type Item, type Write } from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { announcement, outdatedBreaches } from "../../findings/acknowledgements/follow.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  newLock,
  purposeOf,
} from "../../findings/acknowledgements/record.ts";
import { severityAt } from "../../monitoring/hibp/severity.ts";
import { newLock as newScanLock, type ScanLock } from "../../scanning/lock.ts";
import { scans } from "../../scanning/record.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";
import { isOpen } from "./members.ts";

type Work = {
  kind: string;
  due: DueKind;
  key: Key;
  lock: ({ id: number } & Item) | undefined;
  /** What is in progress, by id: the check, for a transaction, that it still is. */
  inProgress: ReadonlyMap<number, Write>;
  newLock: (id: number) => Item;
};

/** A lock must name work in progress and be due; work in progress must have the lock, with which the sweep finds it. */
const compareLock = async (org: number, work: Work): Promise<Problem[]> => {
  const { kind, due, key, lock, inProgress, newLock } = work;
  const subject = { kind: `${kind} lock`, id: org };
  const { id: holder, ...row } = lock ?? {};
  const problems: Problem[] = [];
  if (lock !== undefined && !inProgress.has(lock.id)) {
    const says = `it names ${kind} ${holder}, which is not in progress`;
    problems.push(...(await compare(subject, { key, row, holds: "no row", says })));
  } else if (lock !== undefined) {
    problems.push(...(await compareDue(subject, { key, row, shard: dueShard(due, org) })));
  }
  for (const [id, isInProgress] of inProgress) {
    if (id === holder) continue;
    const says = "it is in progress without the lock";
    const advice = `Repair again when ${kind} ${holder}, which has the lock, is over.`;
    const created = { key, row: undefined, holds: newLock(id), given: [isInProgress], says };
    if (lock === undefined) problems.push(...(await compare({ kind, id }, created)));
    else problems.push({ kind, id, topic: "lock", says, advice });
  }
  return problems;
};

/** `openScans`: ids of scans that were in progress. */
export const compareScanLock = async (org: number, openScans: readonly number[]): Promise<Problem[]> => {
  const key = keys.scanLock(org);
  const lock = await table.get<ScanLock & Item>(key);
  const ids = new Set([...openScans, ...(lock === undefined ? [] : [lock.scanId])]);
  const rows = (await scans.getMany(org, [...ids])).flatMap((row) => (row && isOpen(row) ? row : []));
  return compareLock(org, {
    kind: "scan",
    due: "SCAN",
    key,
    lock: lock && { ...lock, id: lock.scanId },
    inProgress: new Map(
      rows.map(({ id, group }) => [
        id,
        { check: scans.key(org, id), if: condition("#group = :group", { group }) },
      ]),
    ),
    newLock: (scanId) => newScanLock(org, scanId, new Date().toISOString()),
  });
};

/** Requests to change many findings. */
export const compareAcknowledgements = async (org: number): Promise<Problem[]> => {
  const all = await Promise.all(
    [keys.acknowledgementLock(org), keys.severityLock(org)].map((key) =>
      table.get<Partial<AcknowledgementLock> & Item & { dueAt?: string }>(key),
    ),
  );
  const [ofPeople, ofService] = all;
  const rows = await table.query<AcknowledgementRow>({ pk: keys.acknowledgement(org, 0).pk });
  const running = rows.filter(({ status }) => status === "running");
  const compareLockOf = (key: Key, lock: (typeof all)[number], wanted: readonly AcknowledgementRow[]) =>
    compareLock(org, {
      kind: "acknowledgement",
      due: "ACKNOWLEDGEMENT",
      key,
      lock: lock && { ...lock, id: lock.acknowledgementId ?? 0 },
      inProgress: new Map(
        wanted.map(({ id, status }) => [
          id,
          { check: keys.acknowledgement(org, id), if: condition("#status = :status", { status }) },
        ]),
      ),
      // It starts over: findings that it has changed already are changed and counted again.
      newLock: (id) => newLock(org, id),
    });
  const key = keys.severityLock(org);
  const following = running.filter((row) => purposeOf(row) === "follow");
  // Without a request it says that the severities have to be compared.
  const isWaiting = ofService !== undefined && ofService.acknowledgementId === undefined;
  return [
    ...(await compareLockOf(
      keys.acknowledgementLock(org),
      ofPeople,
      running.filter((row) => purposeOf(row) !== "follow"),
    )),
    ...(isWaiting
      ? await compareDue(
          { kind: "severity lock", id: org },
          { key, row: ofService, shard: dueShard("ACKNOWLEDGEMENT", org) },
        )
      : await compareLockOf(key, ofService, following)),
  ];
};

/** Findings must have the severity of their breach, unless something is due that changes it. */
export const compareSeverities = async (org: number): Promise<Problem[]> => {
  const outdated = await outdatedBreaches(org);
  if (outdated.length === 0 || (await table.get(keys.severityLock(org))) !== undefined) return [];
  return outdated.map(({ breachId, level, count }) => ({
    kind: "breach",
    id: breachId,
    topic: `severity ${org}`,
    says: `${count} findings do not have its severity, which is ${severityAt(level)}`,
    repair: () => [announcement(org)],
  }));
};
