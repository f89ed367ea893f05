import { retentionAt } from "../contract/retention.ts";
import { type ScanGroup, type ScanRecord, scans } from "./record.ts";
import type { Scan, ScanStatus, ScanType } from "./scan-schema.ts";

/** A page of the scans of the last 365 days, newest first. */
export const list = async (
  org: number,
  query: {
    limit: number;
    offset: number;
    type?: ScanType | undefined;
    status?: ScanStatus | undefined;
  },
  now: Date,
): Promise<{ scans: Scan[]; total: number; retention: ReturnType<typeof retentionAt> }> => {
  const { type, status, limit, offset } = query;
  const retention = retentionAt(now);
  const { items, total } = await scans.page(org, {
    limit,
    offset,
    since: retention.visibleSince,
    attributes: shownAttributes,
    ...((type !== undefined || status !== undefined) && {
      matches: (group: ScanGroup) =>
        (type === undefined || group.type === type) && (status === undefined || group.status === status),
    }),
  });
  return { scans: items.map(shown), total, retention };
};

/** A scan of the last 365 days; null when there is none with this id. */
export const get = async (org: number, id: number, now: Date): Promise<Scan | null> => {
  const row = await scans.get(org, id);
  return row === undefined || row.createdAt < retentionAt(now).visibleSince ? null : shown(row);
};

/** The latest scan of the last 365 days, and how far it looked; null when there is none. */
export const latest = async (org: number, now: Date): Promise<(Scan & { coverage: Coverage }) | null> => {
  // With `since` it would also read the block in which the 365 days end, to count.
  const [row] = (await scans.page(org, { limit: 1, offset: 0 })).items;
  if (row === undefined || row.createdAt < retentionAt(now).visibleSince) return null;
  const { scannedEmails, failedEmails, unreachedEmails = 0, skippedEmails } = row;
  return {
    ...shown(row),
    coverage: {
      checked: scannedEmails,
      failed: failedEmails - unreachedEmails,
      stale: unreachedEmails,
      skipped: skippedEmails,
    },
  };
};

/**
 * Numbers of e-mails. `stale`: not reached, they keep an earlier result; `skipped`: on domains that are
 * not verified.
 */
type Coverage = { checked: number; failed: number; stale: number; skipped: number };

const shownAttributes = [
  "createdAt",
  "totalEmails",
  "scannedEmails",
  "newBreachesFound",
  "findingsItemized",
  "errorMessage",
  "startedAt",
  "completedAt",
] as const;

const shown = (row: Pick<ScanRecord, "id" | "group" | (typeof shownAttributes)[number]>): Scan => {
  const { type, status } = scans.groupOf(row);
  const { id, totalEmails, scannedEmails, newBreachesFound, findingsItemized } = row;
  const { errorMessage, startedAt, completedAt, createdAt } = row;
  return {
    id,
    type,
    status,
    // While a scan runs, it also checks e-mails that were added after it was started.
    totalEmails: Math.max(totalEmails, scannedEmails),
    scannedEmails,
    newBreachesFound,
    findingsItemized,
    errorMessage,
    startedAt,
    completedAt,
    createdAt,
  };
};
