import { absent, asRead, condition } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { findings } from "../../findings/record.ts";
import type { Counts } from "../../lists/directory.ts";
import { heldBy, type ScanLock } from "../../scanning/lock.ts";
import { type ScanRecord, scans } from "../../scanning/record.ts";
import { changedDuringRead, type Inspection, type Problem } from "./inspector.ts";

/** Whether a scan is in progress. */
export const isOpen = (row: { group: string }): boolean => {
  const { status } = scans.groupOf(row);
  return status === "pending" || status === "running";
};

/**
 * Whether an ended scan's counters are possible. It can have found more than the findings that are there now:
 * removing an e-mail deletes its findings.
 */
export const isCountRight = (
  row: Pick<ScanRecord, "group" | "newBreachesFound" | "totalEmails" | "scannedEmails" | "failedEmails">,
  findingCount: number,
): boolean =>
  isOpen(row) ||
  (findingCount <= row.newBreachesFound &&
    (scans.groupOf(row).status !== "completed" || row.scannedEmails + row.failedEmails === row.totalEmails));

/**
 * An ended scan's counters must be possible. `excess`: by how much the directory of the findings exceeds the
 * findings, as group key to number.
 */
export const inspectCounts =
  (org: number, excess: ReadonlyMap<string, number>) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await scans.get(org, id);
    if (row === undefined) return undefined;
    const directory = await findings.directory(org);
    const findingCount = countOf(directory, id) - countOf([{ counts: excess }], id);
    if (isCountRight(row, findingCount)) return undefined;
    const { newBreachesFound, totalEmails, scannedEmails, failedEmails } = row;
    const found = Math.max(newBreachesFound, findingCount);
    const total = scannedEmails + failedEmails;
    return {
      says: [
        ...(found === newBreachesFound
          ? []
          : [`newBreachesFound is ${newBreachesFound}, there are ${findingCount} findings of it`]),
        ...(total === totalEmails ? [] : [`totalEmails is ${totalEmails}, should be ${total}`]),
      ].join("; "),
      repair: async () => {
        await table.update(scans.key(org, id), {
          set: { newBreachesFound: found, totalEmails: total },
          if: asRead({ group: row.group, newBreachesFound, totalEmails, scannedEmails, failedEmails }),
        });
      },
    };
  };

const countOf = (directory: readonly { counts: Counts }[], scanId: number): number =>
  findings.sum(directory, (group) => group.scanId === scanId);

/** The scan lock must name a scan in progress. */
export const inspectLock =
  (org: number): Inspection<Problem> =>
  async () => {
    const lock = await table.get<ScanLock>(keys.scanLock(org));
    if (lock === undefined) return undefined;
    const { scanId } = lock;
    const row = await scans.get(org, scanId);
    if (row !== undefined && isOpen(row)) return undefined;
    return {
      says: `scan ${scanId} has the lock and is ${row === undefined ? "not there" : "over"}`,
      repair: () => table.remove(keys.scanLock(org), heldBy(scanId)),
    };
  };

/** A scan in progress must have the lock: without it no worker continues the scan. */
export const inspectOpenScan =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await scans.get(org, id);
    if (row === undefined || !isOpen(row)) return undefined;
    const lock = await table.get<ScanLock>(keys.scanLock(org));
    if (lock?.scanId === id) return undefined;
    const again = await scans.get(org, id);
    if (again === undefined || !isOpen(again)) return changedDuringRead;
    const says = "it is in progress without the scan lock";
    if (lock !== undefined) {
      return { says, advice: `Repair again when scan ${lock.scanId}, which has the lock, is over.` };
    }
    const now = new Date().toISOString();
    const taken: ScanLock = {
      scanId: id,
      fencingToken: 0,
      renewedAt: now,
      fruitlessSweeps: 0,
      progress: "",
      dueShard: dueShard("SCAN", org),
      dueAt: now,
    };
    return {
      says,
      // With the lock the sweep finds the scan, and continues or ends it.
      repair: () =>
        table.transact([
          { put: { ...keys.scanLock(org), ...taken }, if: absent },
          { check: scans.key(org, id), if: condition("#group = :group", { group: row.group }) },
        ]),
    };
  };
