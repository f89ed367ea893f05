import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import { retentionAt } from "../api/retention.ts";
import { emails } from "../emails/record.ts";
import { type Actor, service } from "../organizations/actor.ts";
import * as domains from "../organizations/domain.ts";
import * as queue from "../queue/queue.ts";
import { reserveOne } from "../table/blocks.ts";
import { absent } from "../table/condition.ts";
import { dueShard, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { heldBy, type ScanFacet, type ScanLock, type ScanRecord, scans } from "./record.ts";
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
      matches: (facet: ScanFacet) =>
        (type === undefined || facet.type === type) && (status === undefined || facet.status === status),
    }),
  });
  return { scans: items.map(shown), total, retention };
};

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

const shown = (row: Pick<ScanRecord, "id" | "facet" | (typeof shownAttributes)[number]>): Scan => {
  const { type, status } = scans.facetOf(row);
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
 * Starts a scan and gives its id: writes it and takes the organization's scan lock, then wakes the planner. Refuses,
 * counted, `scanInProgress`, `noActiveEmails`, and `scanNotQueued` when the planner could not be woken.
 */
export const start = async (
  org: number,
  type: ScanType,
  actor: Actor,
  count: () => Promise<void> = async () => {},
): Promise<number> => {
  const [lock, directory, allDomains, reserved, slot] = await Promise.all([
    table.get<ScanLock>(keys.scanLock(org)),
    emails.directory(org),
    domains.list(org),
    reserveOne(org, "SCAN"),
    activity.slot(org),
    count(),
  ]);
  if (lock !== undefined) throw new Refusal("scanInProgress");
  const verified = new Set(allDomains.filter((domain) => domain.verified).map((domain) => domain.id));
  const totalEmails = emails.sum(directory, (facet) => facet.isActive && verified.has(facet.domainId));
  if (totalEmails === 0) throw new Refusal("noActiveEmails");

  const { id, createdAt } = reserved;
  const takenLock: ScanLock = {
    scanId: id,
    planTurn: 0,
    renewedAt: createdAt,
    fruitlessSweeps: 0,
    progress: "",
    dueShard: dueShard("SCAN", org),
    dueAt: createdAt,
  };
  try {
    await table.transact([
      { put: { ...keys.scanLock(org), ...takenLock }, if: absent },
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
  } catch (error) {
    if (error instanceof table.TransactionRefused && error.refused(0)) throw new Refusal("scanInProgress");
    throw error;
  }
  try {
    await queue.send("scan-plans", { organizationId: org, scanId: id, turn: 0 });
  } catch {
    await fail(org, id, type);
    throw new Refusal("scanNotQueued");
  }
  return id;
};

/** Ends a scan that could not be queued. If this fails too, the sweep finds the scan. */
const fail = async (org: number, id: number, type: ScanType): Promise<void> => {
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
