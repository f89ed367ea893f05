/** What the dashboard shows of an organization and lets its admins change. */
import type * as z from "zod/mini";
import { condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import { lapsedReason } from "../sessions/current-session.ts";
import { existing, nextScanAt, type Organization, type ScanFrequency } from "./organization.ts";
import type { organization as organizationSchema } from "./organization-schema.ts";

/** Throws if the organization does not exist. */
export const show = async (org: number, now: Date): Promise<z.infer<typeof organizationSchema>> => {
  const [organization, seats] = (await table.getMany([keys.organization(org), keys.seats(org)])) as [
    Organization?,
    { active: number }?,
  ];
  if (organization === undefined) throw new Error(`Organization ${org} does not exist`);
  const { name, scanEvery, billing } = organization;
  const { status, trialEndsAt, interval, seatPriceCents, seatAllowance } = billing;
  return {
    id: org,
    name,
    scanEvery,
    nextScanAt: nextScanAt(organization, now),
    billing: {
      status,
      reason: lapsedReason(billing, now),
      trialEndsAt,
      interval,
      seatPriceCents,
      seatAllowance,
      activeCount: seats?.active ?? 0,
    },
  };
};

/**
 * Changes the name, or how often the organization is scanned. A change that changes nothing succeeds and is not logged. `reschedule`
 * sets the schedule and returns the time of its first scan. It runs before the row is written, so that repeating an interrupted change
 * sets both.
 */
export const change = (
  org: number,
  input: { name?: string | undefined; scanEvery?: ScanFrequency | undefined },
  actor: Actor,
  reschedule: (every: ScanFrequency) => Promise<string | null>,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const organization = await existing(org);
    if (organization.deleting === true) {
      // A try before may have made the schedule again that the deletion has removed.
      if (input.scanEvery !== undefined) await reschedule("never");
      throw new Refusal("unauthenticated");
    }
    const { name = organization.name, scanEvery = organization.scanEvery } = input;
    const isRenamed = name !== organization.name;
    const isRescheduled = scanEvery !== organization.scanEvery;
    if (!isRenamed && !isRescheduled) return;
    const [slot, firstScanAt] = await Promise.all([
      activity.slot(org),
      isRescheduled ? reschedule(scanEvery) : undefined,
    ]);
    const summary = [
      ...(isRenamed ? [`Renamed the organization to ${name}`] : []),
      ...(isRescheduled ? [`Set the organization to be scanned ${phrase[scanEvery]}`] : []),
    ].join(". ");
    await table.transact([
      {
        update: keys.organization(org),
        set: { name, scanEvery, firstScanAt },
        if: condition("#name = :name AND #scanEvery = :scanEvery AND attribute_not_exists(#deleting)", {
          name: organization.name,
          scanEvery: organization.scanEvery,
        }),
      },
      ...activity.writes(org, slot, { action: "organization.updated", summary, actor }),
    ]);
  });

const phrase = {
  day: "every day",
  week: "every week",
  never: "only after new breaches and when asked",
} as const;
