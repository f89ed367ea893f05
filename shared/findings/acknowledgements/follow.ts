/**
 * When a breach changes its severity in the catalog, its findings get the new one. The counts say which
 * severities the findings of each breach have. Where they differ from the catalog, the service makes a
 * request like those of people, one breach at a time.
 *
 * `announce` writes the lock of these requests before the catalog changes. The lock stays due until nothing
 * differs. So a change is made even if every process that knew of it dies.
 */
import { service } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { absent, allOf, asRead, condition, exists, type Write } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../counts/counts.ts";
import { grades, isRecorded } from "../../hibp/breach-details.ts";
import { drawId } from "../../lists/blocks.ts";
import { type AcknowledgementRow, newLock, timeOfRequest, wake } from "./record.ts";

/**
 * The lock while no request is in progress. `announced`: how often the catalog has changed since the row
 * was written.
 */
export type FollowLock = { announced: number; dueShard: string; dueAt: string };

/** How many organizations' rows are written at the same time. */
const concurrency = 10;

/** Notes that findings of an organization may need another severity. */
export const announcement = (org: number): Write => ({
  update: keys.severityLock(org),
  add: { announced: 1 },
  setOnce: { dueShard: dueShard("ACKNOWLEDGEMENT", org), dueAt: new Date().toISOString() },
});

/** Notes it for every organization, before the catalog is changed. */
export const announce = async (): Promise<void> => {
  for await (const ids of organizations.everyId()) {
    for (const some of chunk(ids, concurrency)) {
      await Promise.all(some.map((org) => table.transact([announcement(org)])));
    }
  }
};

/** A breach some of whose findings have another severity than the catalog says. */
type Outdated = { breachId: number; level: number; from: number; count: number };

/** Those of an organization, by breach id. Reads the counts, and each breach that has findings. */
export const outdatedBreaches = async (org: number): Promise<Outdated[]> => {
  const { byLevel } = await counts.read(org);
  const right = await grades(byLevel.keys());
  return [...byLevel]
    .sort(([one], [other]) => one - other)
    .flatMap(([breachId, ofBreach]) => {
      const level = right.get(breachId)?.level;
      const others = [...ofBreach].filter(([each]) => each !== level);
      if (level === undefined || others.length === 0) return [];
      const count = others.reduce((sum, [, { open, acknowledged }]) => sum + open + acknowledged, 0);
      const from = Math.min(...others.map(([each]) => each));
      return [{ breachId, level, from, count: Math.max(0, count) }];
    });
};

/**
 * Begins a request for the next breach, and returns true; false where there is none, or one is in
 * progress. `done`: the breach that was just dealt with. What is left of it, because the index by breach
 * is a moment behind, is left to the next sweep.
 */
export const follow = async (org: number, done?: number): Promise<boolean> => {
  const key = keys.severityLock(org);
  const lock = await table.get<FollowLock & { acknowledgementId?: number }>(key);
  if (lock === undefined || lock.acknowledgementId !== undefined) return false;
  const { announced } = lock;
  const isIdle = allOf(exists, condition("attribute_not_exists(#acknowledgementId)"));
  const organization = await organizations.get(org);
  if (organization === undefined || organization.deleting === true) {
    await table.attempt(table.remove(key, isIdle));
    return false;
  }
  // While a sync writes breaches, or after it died, nothing is compared: the lock stays until a sync has ended.
  if (!(await isRecorded())) return false;
  // A scan may have read the catalog before it changed, and write findings still.
  const isScanning = (await table.get(keys.scanLock(org))) !== undefined;
  const outdated = await outdatedBreaches(org);
  const next = outdated.find(({ breachId }) => breachId !== done);
  if (next === undefined) {
    if (outdated.length > 0 || isScanning) return false;
    await table.attempt(table.remove(key, allOf(isIdle, asRead({ announced }))));
    return false;
  }
  const [id, requestedAt] = await Promise.all([drawId("ACKNOWLEDGEMENT"), timeOfRequest(org)]);
  const { breachId, level, from, count: matching } = next;
  const row: AcknowledgementRow = {
    id,
    status: "running",
    matching,
    completedAt: null,
    requestedAt,
    by: service,
    resolution: null,
    reason: null,
    follows: { breachId, level, from },
  };
  const { written } = await table.attempt(
    table.transact([
      {
        update: key,
        set: newLock(org, id),
        if: isIdle,
      },
      { put: { ...keys.acknowledgement(org, id), ...row }, if: absent },
    ]),
  );
  // Not written: another worker has begun one.
  if (!written) return false;
  await wake(org, id).catch(() => {});
  return true;
};
