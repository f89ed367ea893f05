import { findings } from "../findings/record.ts";
import { heldBy, type ScanLock, type ScanRecord, scans } from "../scans/record.ts";
import { absent, condition } from "../table/condition.ts";
import type { Counts } from "../table/directory.ts";
import { dueShard, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { asRead, type Found, type Look, moving } from "./difference.ts";

export const isOpen = (row: { facet: string }): boolean => {
  const { status } = scans.facetOf(row);
  return status === "pending" || status === "running";
};

/** What an ended scan counted. Findings go with their e-mails, so it can have found more than there are now. */
export const isCountRight = (
  row: Pick<ScanRecord, "facet" | "newBreachesFound" | "totalEmails" | "scannedEmails" | "failedEmails">,
  findingCount: number,
): boolean =>
  isOpen(row) ||
  (findingCount <= row.newBreachesFound &&
    (scans.facetOf(row).status !== "completed" || row.scannedEmails + row.failedEmails === row.totalEmails));

/** Whether a scan's counts are right. `excess`: what the findings' directory counts too many. */
export const lookAtCounts =
  (org: number, excess: ReadonlyMap<string, number>) =>
  (id: number): Look<Found> =>
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
      mend: async () => {
        await table.update(scans.key(org, id), {
          set: { newBreachesFound: found, totalEmails: total },
          if: asRead({ facet: row.facet, newBreachesFound, totalEmails, scannedEmails, failedEmails }),
        });
      },
    };
  };

const countOf = (directory: readonly { counts: Counts }[], scanId: number): number =>
  findings.sum(directory, (facet) => facet.scanId === scanId);

/** The scan lock names the scan in progress. */
export const lookAtLock =
  (org: number): Look<Found> =>
  async () => {
    const lock = await table.get<ScanLock>(keys.scanLock(org));
    if (lock === undefined) return undefined;
    const { scanId } = lock;
    const row = await scans.get(org, scanId);
    if (row !== undefined && isOpen(row)) return undefined;
    return {
      says: `scan ${scanId} has the lock and is ${row === undefined ? "not there" : "over"}`,
      mend: () => table.remove(keys.scanLock(org), heldBy(scanId)),
    };
  };

/** A scan in progress has the lock, or nobody goes on with it. */
export const lookAtOpenScan =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await scans.get(org, id);
    if (row === undefined || !isOpen(row)) return undefined;
    const lock = await table.get<ScanLock>(keys.scanLock(org));
    if (lock?.scanId === id) return undefined;
    const again = await scans.get(org, id);
    if (again === undefined || !isOpen(again)) return moving;
    const says = "it is in progress and has not the lock";
    if (lock !== undefined) {
      return { says, advice: `Repair again when scan ${lock.scanId}, which has the lock, is over.` };
    }
    const now = new Date().toISOString();
    const taken: ScanLock = {
      scanId: id,
      planTurn: 0,
      renewedAt: now,
      fruitlessSweeps: 0,
      progress: "",
      dueShard: dueShard("SCAN", org),
      dueAt: now,
    };
    return {
      says,
      // The sweep then goes on with the scan, or ends it.
      mend: () =>
        table.transact([
          { put: { ...keys.scanLock(org), ...taken }, if: absent },
          { check: scans.key(org, id), if: condition("#facet = :facet", { facet: row.facet }) },
        ]),
    };
  };
