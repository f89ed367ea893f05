import type * as z from "zod/mini";
import { absent, allOf, asRead, byUpdate, condition, exists } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import { lapsedReason } from "../billing/billing.ts";
import type { Billing } from "../billing/billing-schema.ts";
import type { organization as organizationSchema } from "./organization-schema.ts";

export type ScanFrequency = "day" | "week" | "never";

export type Organization = {
  id: number;
  name: string;
  createdAt: string;
  billing: Billing;
  scanEvery: ScanFrequency;
  /** By IANA's name: when `day` and `week` end for alert channels. Absent: `defaultTimeZone`. */
  timeZone?: string;
  /** When the first scan of the present schedule begins, ISO 8601; null without a schedule. */
  firstScanAt: string | null;
  /** Copies of alerts by e-mail in a UTC hour and in a UTC day. Absent: `defaultMailBudget` of alerting. */
  mailBudget?: { hour: number; day: number };
  /** `provider`: its people sign in by the identity provider, and by no link but the operator's. Absent: `any`. */
  signIn?: "any" | "provider";
  /** How many hours a session lasts at most. Absent: `longestHours` of sessions. */
  sessionHours?: number;
  /** Set while the organization is being deleted: requests are refused and no new work starts. */
  deleting?: boolean;
  /** When the sweep first saw the deletion, ISO 8601. */
  deletingSince?: string;
};

export const defaultTimeZone = "UTC";

export const create = async (input: {
  name: string;
  billing: Billing;
  scanEvery: ScanFrequency;
}): Promise<Organization> => {
  const organization = {
    id: await drawId("ORGANIZATION"),
    createdAt: new Date().toISOString(),
    firstScanAt: null,
    ...input,
  };
  const { id } = organization;
  await table.transact([
    { put: { ...keys.organization(id), ...organization }, if: absent },
    { put: { ...keys.organizations(id), id }, if: absent },
  ]);
  return organization;
};

/** The ids of all organizations, including those that are being deleted, in pages of at most 1 MB. */
export async function* everyId(): AsyncGenerator<number[]> {
  const { pk } = keys.organizations(0);
  for await (const rows of table.queryPages<{ id: number }>({ pk })) yield rows.map((row) => row.id);
}

/** All organizations except those that are being deleted, in the order of their ids. */
export const list = async (): Promise<Organization[]> => {
  const active: Organization[] = [];
  for await (const ids of everyId()) {
    for (const organization of await table.getMany<Organization>(ids.map(keys.organization))) {
      if (organization !== undefined && organization.deleting !== true) active.push(organization);
    }
  }
  return active;
};

export const get = (org: number): Promise<Organization | undefined> => table.get(keys.organization(org));

/** The organization of an authenticated request. Throws if it does not exist. */
export const existing = async (org: number): Promise<Organization> => {
  const organization = await get(org);
  if (organization === undefined) throw missing(org);
  return organization;
};

const missing = (org: number): Error => new Error(`Organization ${org} does not exist`);

/** Throws if the organization does not exist. */
export const set = async (
  org: number,
  values: Partial<Organization & { dueShard: string; dueAt: string }>,
): Promise<void> => {
  const { written } = await table.attempt(table.update(keys.organization(org), { set: values, if: exists }));
  if (!written) throw missing(org);
};

export const scanPeriodMilliseconds = { day: 86_400_000, week: 7 * 86_400_000 } as const;

/** When the next scheduled scan begins, up to a flexible window later; null when none is scheduled. */
export const nextScanAt = (
  { scanEvery, firstScanAt }: Pick<Organization, "scanEvery" | "firstScanAt">,
  now: Date,
): string | null => {
  if (scanEvery === "never" || firstScanAt === null) return null;
  const first = Date.parse(firstScanAt);
  const period = scanPeriodMilliseconds[scanEvery];
  const periods = Math.max(0, Math.ceil((now.getTime() - first) / period));
  return new Date(first + periods * period).toISOString();
};

/** Marks an organization as being deleted. The deletion is due at once, even if this machine's clock is ahead. */
export const markDeleting = (org: number): Promise<void> =>
  set(org, { deleting: true, dueShard: dueShard("DELETION", org), dueAt: new Date(0).toISOString() });

/** Throws if the organization does not exist. */
export const show = async (org: number, now: Date): Promise<z.infer<typeof organizationSchema>> => {
  const [organization, seats] = (await table.getMany([keys.organization(org), keys.seats(org)])) as [
    Organization?,
    { active: number }?,
  ];
  if (organization === undefined) throw missing(org);
  const { name, scanEvery, timeZone = defaultTimeZone, billing } = organization;
  const { status, trialEndsAt, interval, seatPriceCents, seatAllowance } = billing;
  return {
    id: org,
    name,
    scanEvery,
    nextScanAt: nextScanAt(organization, now),
    timeZone,
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
 * Changes the name, how often the organization is scanned, or its time zone. A change that changes nothing
 * succeeds and is not logged. `reschedule` sets the schedule and returns the time of its first scan. It runs
 * before the row is written, so that repeating an interrupted change sets both.
 */
export const changeSettings = (
  org: number,
  input: {
    name?: string | undefined;
    scanEvery?: ScanFrequency | undefined;
    timeZone?: string | undefined;
  },
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
    const before = { timeZone: defaultTimeZone, ...organization };
    const { name = before.name, scanEvery = before.scanEvery, timeZone = before.timeZone } = input;
    const isRenamed = name !== organization.name;
    const isRescheduled = scanEvery !== organization.scanEvery;
    const isMoved = timeZone !== before.timeZone;
    if (!isRenamed && !isRescheduled && !isMoved) return;
    const [slot, firstScanAt] = await Promise.all([
      activity.slot(org),
      isRescheduled ? reschedule(scanEvery) : undefined,
    ]);
    const summary = [
      ...(isRenamed ? [`Renamed the organization to ${name}`] : []),
      ...(isRescheduled ? [`Set the organization to be scanned ${phrase[scanEvery]}`] : []),
      ...(isMoved ? [`Set the time zone of the organization to ${timeZone}`] : []),
    ].join(". ");
    await table.transact([
      {
        update: keys.organization(org),
        set: { name, scanEvery, firstScanAt, ...(isMoved && { timeZone }) },
        if: allOf(
          asRead({
            name: organization.name,
            scanEvery: organization.scanEvery,
            timeZone: organization.timeZone,
          }),
          condition("attribute_not_exists(#deleting)"),
        ),
      },
      ...activity.writes(org, slot, { action: "organization.updated", summary, actor }).map(byUpdate),
    ]);
  });

const phrase = {
  day: "every day",
  week: "every week",
  never: "only after new breaches and when asked",
} as const;
