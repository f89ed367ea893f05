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
  const { id } = organization;
  await table.transact([
    { put: { ...keys.organization(id), ...organization }, if: absent },
    { put: { ...keys.organizations(id), id }, if: absent },
  ]);
  return organization;
};

/** The ids of all organizations, also of those being deleted, a page at a time. */
export async function* everyId(): AsyncGenerator<number[]> {
  const { pk } = keys.organizations(0);
  for await (const rows of table.queryPages<{ id: number }>({ pk })) yield rows.map((row) => row.id);
}

/** All organizations but those being deleted, by id. */
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
