import type { MailBudget } from "../../aws/mail/budget.ts";
import { absent, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { drawId } from "../../lists/blocks.ts";
import type { Billing } from "../billing/billing-schema.ts";
import { change, changing, find, findExisting, orUnguarded } from "./row.ts";

export type ScanFrequency = "day" | "week" | "never";

export type Organization = {
  id: number;
  name: string;
  createdAt: string;
  billing: Billing;
  scanEvery: ScanFrequency;
  /** When the first scan of the present schedule begins, ISO 8601; null without a schedule, absent before that was noted. */
  firstScanAt?: string | null;
  /** Absent: `defaultMailBudget`. */
  mailBudget?: MailBudget;
  /** Set while the organization is being deleted: requests are refused and no new work starts. */
  deleting?: boolean;
  /** When the sweep first saw the deletion, ISO 8601. */
  deletingSince?: string;
};

export const create = async (input: {
  name: string;
  billing: Billing;
  scanEvery: ScanFrequency;
}): Promise<Organization> => {
  const organization = { id: await drawId("ORGANIZATION"), createdAt: new Date().toISOString(), ...input };
  const { id } = organization;
  await table.transact([
    { put: { ...keys.organization(id), ...organization }, if: absent },
    { put: { ...keys.unguardedOrganization(id), ...organization }, if: absent },
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
  const found: Organization[] = [];
  for await (const ids of everyId()) {
    for (const organization of await orUnguarded(ids, await table.getMany(ids.map(keys.organization)))) {
      if (organization !== undefined && organization.deleting !== true) found.push(organization);
    }
  }
  return found;
};

export const get = async (org: number): Promise<Organization | undefined> => (await find(org))?.organization;

/** The organization of an authenticated request. Throws if it does not exist. */
export const existing = async (org: number): Promise<Organization> => (await findExisting(org)).organization;

/** Throws if the organization does not exist. */
export const setBilling = (org: number, billing: Billing): Promise<void> => change(org, { billing });

/** Throws if the organization does not exist. */
export const setMailBudget = (org: number, mailBudget: MailBudget): Promise<void> =>
  change(org, { mailBudget });

/**
 * Notes how often an organization is scanned, and when the first of these scans begins (ISO 8601). Throws if the
 * organization does not exist.
 */
export const setScanFrequency = (
  org: number,
  scanEvery: ScanFrequency,
  firstScanAt: string | null,
): Promise<void> => change(org, { scanEvery, firstScanAt });

export const scanPeriodMilliseconds = { day: 86_400_000, week: 7 * 86_400_000 } as const;

/** When the next scheduled scan begins, up to a flexible window later; null when none is scheduled. */
export const nextScanAt = (
  { scanEvery, firstScanAt }: Pick<Organization, "scanEvery" | "firstScanAt">,
  now: Date,
): string | null => {
  if (scanEvery === "never" || firstScanAt == null) return null;
  const first = Date.parse(firstScanAt);
  const period = scanPeriodMilliseconds[scanEvery];
  const periods = Math.max(0, Math.ceil((now.getTime() - first) / period));
  return new Date(first + periods * period).toISOString();
};

/** Sets `firstScanAt` when a schedule starts a scan, for organizations that were created before this attribute existed. */
export const noteScheduledScan = async (org: number, now: Date): Promise<void> => {
  const found = await find(org);
  if (found === undefined || found.organization.firstScanAt !== undefined) return;
  const isUnknown = condition("attribute_exists(#pk) AND attribute_not_exists(#firstScanAt)");
  await table.attempt(
    table.transact(changing(org, found, { set: { firstScanAt: now.toISOString() }, if: isUnknown })),
  );
};
