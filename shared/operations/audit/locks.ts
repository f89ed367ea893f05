/** Locks, and the work in progress that holds them. */
import { condition, type Item, type Write } from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  newLock,
} from "../../findings/acknowledgements/record.ts";
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
  /** What is in progress: for a transaction, that it still is. */
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

/** Requests to acknowledge many findings; one cannot have done more than there was to do. */
export const compareAcknowledgements = async (org: number): Promise<Problem[]> => {
  const key = keys.acknowledgementLock(org);
  const lock = await table.get<AcknowledgementLock & Item>(key);
  const rows = await table.query<AcknowledgementRow>({ pk: keys.acknowledgement(org, 0).pk });
  const running = rows.filter(({ status }) => status === "running");
  const isRunning = condition("#status = :running", { running: "running" });
  const locks = await compareLock(org, {
    kind: "acknowledgement",
    due: "ACKNOWLEDGEMENT",
    key,
    lock: lock && { ...lock, id: lock.acknowledgementId },
    inProgress: new Map(
      running.map(({ id }) => [id, { check: keys.acknowledgement(org, id), if: isRunning }]),
    ),
    // It starts over: findings that it has acknowledged already are acknowledged and counted again.
    newLock: (id) => newLock(org, id),
  });
  const excessive = rows.flatMap(({ id, matching, acknowledged }) => {
    const soFar = acknowledged ?? (lock?.acknowledgementId === id ? lock.acknowledged : 0);
    if (soFar <= matching) return [];
    const says = `it has acknowledged ${soFar} findings, more than the ${matching} that matched`;
    const advice = "The findings themselves are compared one by one: see whether they differ.";
    return [{ kind: "acknowledgement", id, topic: "progress", says, advice }];
  });
  return [...locks, ...excessive];
};
