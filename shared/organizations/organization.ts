import type { Billing } from "../billing/schema.ts";
import { drawId } from "../table/blocks.ts";
import { absent, exists } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

export type ScanFrequency = "day" | "week" | "never";

export type Organization = {
  id: number;
  name: string;
  createdAt: string;
  billing: Billing;
  scanEvery: ScanFrequency;
  /** Being deleted: nobody is let in and no new work starts. */
  deleting?: boolean;
};

/** Creates an organization and gives its id. */
export const create = async (input: {
  name: string;
  billing: Billing;
  scanEvery: ScanFrequency;
}): Promise<Organization> => {
  const organization = { id: await drawId("ORGANIZATION"), createdAt: new Date().toISOString(), ...input };
  await table.put({ ...keys.organization(organization.id), ...organization }, absent);
  return organization;
};

export const get = (org: number): Promise<Organization | undefined> => table.get(keys.organization(org));

/** Of an id that was authenticated. */
export const existing = async (org: number): Promise<Organization> => {
  const organization = await get(org);
  if (organization === undefined) throw new Error(`Organization ${org} is not there`);
  return organization;
};

/** Throws `ConditionFailed` when there is no such organization. */
export const setBilling = async (org: number, billing: Billing): Promise<void> => {
  await table.update(keys.organization(org), { set: { billing }, if: exists });
};

/** Throws `ConditionFailed` when there is no such organization. */
export const setScanFrequency = async (org: number, scanEvery: ScanFrequency): Promise<void> => {
  await table.update(keys.organization(org), { set: { scanEvery }, if: exists });
};
