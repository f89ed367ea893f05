/** Locks, and the work in progress that holds them. */
import { asRead, type Item, type Write } from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { announcement, outdatedBreaches } from "../../findings/acknowledgements/follow.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  lockKeyOf,
  newLock,
  purposeOf,
} from "../../findings/acknowledgements/record.ts";
import { severityAt } from "../../hibp/severity.ts";
import { newLock as newScanLock, type ScanLock } from "../../scanning/lock.ts";
import { scans } from "../../scanning/record.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

type Lock = Item & { dueAt?: string };

type Work = {
  kind: string;
  due: DueKind;
  key: Key;
  lock: Lock | undefined;
  /** What the lock names. Undefined: it waits for work. */
  holder: number | undefined;
  /** What is in progress, by id: the check, for a transaction, that it still is. */
  inProgress: ReadonlyMap<number, Write>;
  newLock: (id: number) => Item;
};

/**
 * A lock must name work in progress and be due; work in progress must have the lock, with which the
 * sweep finds it.
 */
const compareLock = (org: number, { kind, due, key, lock, holder, inProgress, newLock }: Work): Problem[] => {
  const subject = { kind: `${kind} lock`, id: org };
  const compareRow = (row: Lock): Problem[] => {
    const says = `it names ${kind} ${holder}, which is not in progress`;
    return holder === undefined || inProgress.has(holder)
      ? compareDue(subject, { key, row, shard: dueShard(due, org) })
      : compare(subject, { key, row, holds: "no row", says });
  };
  const unlocked = [...inProgress].filter(([id]) => id !== holder);
  return [
    ...(lock === undefined ? [] : compareRow(lock)),
    ...unlocked.flatMap(([id, isInProgress]) => {
      const says = "it is in progress without the lock";
      const advice = `Repair again when ${kind} ${holder}, which has the lock, is over.`;
      return lock === undefined
        ? compare({ kind, id }, { key, row: lock, holds: newLock(id), given: [isInProgress], says })
        : [{ kind, id, topic: "lock", says, advice }];
    }),
  ];
};

export const compareScanLock = async (org: number): Promise<Problem[]> => {
  const key = keys.scanLock(org);
  const lock = await table.get<ScanLock & Item>(key);
  const { items } = await scans.page(org, {
    limit: 100,
    offset: 0,
    matches: ({ status }) => status === "pending" || status === "running",
    attributes: [],
  });
  return compareLock(org, {
    kind: "scan",
    due: "SCAN",
    key,
    lock,
    holder: lock?.scanId,
    inProgress: new Map(
      items.map(({ id, group }) => [id, { check: scans.key(org, id), if: asRead({ group }) }]),
    ),
    newLock: (scanId) => newScanLock(org, scanId, new Date().toISOString()),
  });
};

/** Requests to change many findings. */
export const compareAcknowledgements = async (org: number): Promise<Problem[]> => {
  const lockKeys = [keys.acknowledgementLock(org), keys.severityLock(org), keys.rulesLock(org)];
  const locks = await Promise.all(lockKeys.map((key) => table.get<Lock & Partial<AcknowledgementLock>>(key)));
  const rows = await table.query<AcknowledgementRow>({ pk: keys.acknowledgement(org, 0).pk });
  const running = rows.filter(({ status }) => status === "running");
  return lockKeys.flatMap((key, at) =>
    compareLock(org, {
      kind: "acknowledgement",
      due: "ACKNOWLEDGEMENT",
      key,
      lock: locks[at],
      holder: locks[at]?.acknowledgementId,
      inProgress: new Map(
        running
          .filter((row) => lockKeyOf(org, purposeOf(row)).sk === key.sk)
          .map(({ id, status }) => [id, { check: keys.acknowledgement(org, id), if: asRead({ status }) }]),
      ),
      // It starts over: findings that it has changed already are changed and counted again.
      newLock: (id) => newLock(org, id),
    }),
  );
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
