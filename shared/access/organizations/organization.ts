import type { MailBudget } from "../../aws/mail/budget.ts";
import { absent, type Change, exists } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { drawId } from "../../lists/blocks.ts";
import type { Billing } from "../billing/billing-schema.ts";

export type ScanFrequency = "day" | "week" | "never";

export type Organization = {
  id: number;
  name: string;
  createdAt: string;
  billing: Billing;
  scanEvery: ScanFrequency;
  /** When the first scan of the present schedule begins, ISO 8601; null without a schedule. */
  firstScanAt: string | null;
  /** Absent: `defaultMailBudget`. */
  mailBudget?: MailBudget;
  /** Its people sign in by the identity provider, and by no link but the operator's. */
  signIn?: "provider";
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
  const found: Organization[] = [];
  for await (const ids of everyId()) {
    for (const organization of await table.getMany<Organization>(ids.map(keys.organization))) {
      if (organization !== undefined && organization.deleting !== true) found.push(organization);
    }
  }
  return found;
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
const change = async (org: number, made: Pick<Change, "set" | "remove">): Promise<void> => {
  const { written } = await table.attempt(table.update(keys.organization(org), { ...made, if: exists }));
  if (!written) throw missing(org);
};

/** Throws if the organization does not exist. */
export const setBilling = (org: number, billing: Billing): Promise<void> => change(org, { set: { billing } });

/** Throws if the organization does not exist. */
export const setMailBudget = (org: number, mailBudget: MailBudget): Promise<void> =>
  change(org, { set: { mailBudget } });

/** Throws if the organization does not exist. */
export const setSignIn = (org: number, signIn: "provider" | undefined): Promise<void> =>
  change(org, signIn === undefined ? { remove: ["signIn"] } : { set: { signIn } });

/**
 * Notes how often an organization is scanned, and when the first of these scans begins (ISO 8601). Throws if the
 * organization does not exist.
 */
export const setScanFrequency = (
  org: number,
  scanEvery: ScanFrequency,
  firstScanAt: string | null,
): Promise<void> => change(org, { set: { scanEvery, firstScanAt } });

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
  change(org, {
    set: { deleting: true, dueShard: dueShard("DELETION", org), dueAt: new Date(0).toISOString() },
  });
