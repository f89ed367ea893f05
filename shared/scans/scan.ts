import * as activity from "../activity/activity.ts";
import { type Actor, service } from "../activity/actor.ts";
import { Refusal } from "../contract/errors.ts";
import { retentionAt } from "../contract/retention.ts";
import * as domains from "../domains/domain.ts";
import { emails } from "../emails/record.ts";
import { reserveOne } from "../lists/blocks.ts";
import { blocksIn } from "../lists/directory.ts";
import { countOf } from "../lists/plan.ts";
import * as queue from "../queue/queue.ts";
import { absent } from "../table/condition.ts";
import { dueShard, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { heldBy, type ScanLock } from "./lock.ts";
import { type ScanGroup, type ScanRecord, scans } from "./record.ts";
import type { Scan, ScanStatus, ScanType } from "./schema.ts";

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

/** The latest scan of the last 365 days, and how far it looked; null when there is none. */
export const latest = async (org: number, now: Date): Promise<(Scan & { coverage: Coverage }) | null> => {
  // A page would also read the block in which the 365 days end, to count.
  const newest = blocksIn(await scans.directory(org)).find(({ counts }) => countOf(counts, () => true) > 0);
  const [row] = newest === undefined ? [] : await scans.newest(org, newest.block, 1);
  if (row === undefined || row.createdAt < retentionAt(now).visibleSince) return null;
  const { scannedEmails, failedEmails, unreachedEmails = 0, skippedEmails = 0 } = row;
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

/** Numbers of e-mails. `stale`: not reached, they keep an earlier result; `skipped`: on domains that are not verified. */
export type Coverage = { checked: number; failed: number; stale: number; skipped: number };

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
    totalEmails,
    scannedEmails,
    newBreachesFound,
    findingsItemized,
    errorMessage,
    startedAt,
    completedAt,
    createdAt,
  };
};

const typeName: Record<ScanType, string> = {
  manual: "manual",
  scheduled: "scheduled",
  catalog_triggered: "catalog-triggered",
};

/**
 * Starts a scan and returns its id: writes the scan, takes the organization's scan lock, and wakes a planner.
 * `count` counts the request against its limit, also when it is refused.
 *
 * @throws Refusal `scanInProgress`, `noActiveEmails`, or `scanNotQueued` when SQS did not take the message.
 */
export const start = async (
  org: number,
  type: ScanType,
  actor: Actor,
  count: () => Promise<void> = async () => {},
): Promise<number> => {
  const [lock, directory, allDomains] = await Promise.all([
    table.get<ScanLock>(keys.scanLock(org)),
    emails.directory(org),
    domains.list(org),
    count(),
  ]);
  if (lock !== undefined) throw new Refusal("scanInProgress");
  const verified = new Set(allDomains.filter((domain) => domain.verified).map((domain) => domain.id));
  const totalEmails = emails.sum(directory, (group) => group.isActive && verified.has(group.domainId));
  const skippedEmails = emails.sum(directory, (group) => group.isActive && !verified.has(group.domainId));
  if (totalEmails === 0) throw new Refusal("noActiveEmails");

  const [reserved, slot] = await Promise.all([reserveOne(org, "SCAN"), activity.slot(org)]);
  const { id, createdAt } = reserved;
  const takenLock: ScanLock = {
    scanId: id,
    fencingToken: 0,
    renewedAt: createdAt,
    fruitlessSweeps: 0,
    progress: "",
    dueShard: dueShard("SCAN", org),
    dueAt: createdAt,
  };
  await table.transact([
    { put: { ...keys.scanLock(org), ...takenLock }, if: absent, refusal: "scanInProgress" },
    ...scans.writes(org, [
      scans.put(
        org,
        reserved,
        { type, status: "pending" },
        {
          startedAt: null,
          completedAt: null,
          errorMessage: null,
          findingsItemized: false,
          totalEmails,
          scannedEmails: 0,
          failedEmails: 0,
          skippedEmails,
          newBreachesFound: 0,
          planned: false,
          remaining: {},
        },
      ),
    ]),
    ...activity.writes(org, slot, {
      action: "scan.started",
      summary: `Started a ${typeName[type]} scan of ${totalEmails} ${totalEmails === 1 ? "email" : "emails"}`,
      actor,
    }),
  ]);
  try {
    await queue.send("scan-plans", { organizationId: org, scanId: id, fencingToken: 0 });
  } catch {
    await endUnqueued(org, id, type);
    throw new Refusal("scanNotQueued");
  }
  return id;
};

/** Ends a scan whose message SQS did not take. If this fails too, the sweep wakes a planner for the scan. */
const endUnqueued = async (org: number, id: number, type: ScanType): Promise<void> => {
  const slot = await activity.slot(org);
  const errorMessage = "The scan could not be queued";
  await table.transact([
    { delete: keys.scanLock(org), if: heldBy(id) },
    ...scans.writes(org, [
      scans.change(org, id, {
        from: { type, status: "pending" },
        to: { type, status: "failed" },
        set: { errorMessage, completedAt: slot.createdAt },
      }),
    ]),
    ...activity.writes(org, slot, { action: "scan.failed", summary: errorMessage, actor: service }),
  ]);
};
