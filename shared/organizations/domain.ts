import { noteDomain } from "../emails/own-check.ts";
import { drawId } from "../table/blocks.ts";
import { absent, condition, exists, type Write } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

/**
 * A domain of an organization, with the watermark of its last check: one row says for all its e-mails when they were
 * last checked, so that a scan that finds nothing new writes nothing per e-mail.
 */
export type Domain = {
  id: number;
  name: string;
  verified: boolean;
  createdAt: string;
  /** The latest scan that began to check this domain; 0 before the first. An e-mail that comes later is not in it. */
  planBy: number;
  /** Of that scan: when the check was taken, and how far it is. */
  planAt?: string;
  planState?: PlanState;
  /** The domains of a scan that were planned together. */
  planBatch?: number;
  /** The latest scan whose check of this domain holds; 0 before the first. */
  checkedBy: number;
  checkedAt: string | null;
  /** Ranges of e-mail ids that this check did not reach, with the watermark that still holds for them. */
  stale?: Record<string, { checkedBy: number; checkedAt: string | null }>;
};

/** fetching: asked upstream · checked: its answer is compared and saved · single: looked up one by one · failed: no answer. */
export type PlanState = "fetching" | "checked" | "single" | "failed";

export const create = async (
  org: number,
  input: { name: string; verified: boolean },
): Promise<Domain | "exists"> => {
  const id = await drawId("DOMAIN");
  const domain: Domain = {
    id,
    name: input.name.toLowerCase(),
    verified: input.verified,
    createdAt: new Date().toISOString(),
    planBy: 0,
    checkedBy: 0,
    checkedAt: null,
  };
  try {
    await table.transact([
      { check: keys.organization(org), if: exists },
      { put: { ...keys.domainName(org, domain.name), id }, if: absent },
      { put: { ...keys.domain(org, id), ...domain }, if: absent },
    ]);
    return domain;
  } catch (error) {
    if (error instanceof table.TransactionRefused && error.refused(1)) return "exists";
    throw error;
  }
};

export const get = (org: number, id: number): Promise<Domain | undefined> => table.get(keys.domain(org, id));

/** Of an id that was read from a row: domains are never deleted while their organization is there. */
export const existing = async (org: number, id: number): Promise<Domain> => {
  const domain = await get(org, id);
  if (domain === undefined) throw new Error(`Domain ${id} of organization ${org} is not there`);
  return domain;
};

export const getMany = async (org: number, ids: readonly number[]): Promise<Map<number, Domain>> => {
  const rows = await table.getMany<Domain>([...new Set(ids)].map((id) => keys.domain(org, id)));
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]));
};

export const list = (org: number): Promise<Domain[]> => table.query({ pk: keys.domain(org, 0).pk });

/**
 * A domain that is no longer verified has no part in a scan in progress any more, also when it is verified again before the
 * end. Throws `ConditionFailed` when there is no such domain.
 */
export const setVerified = async (org: number, id: number, verified: boolean): Promise<void> => {
  const key = keys.domain(org, id);
  if (verified) {
    await table.update(key, { set: { verified }, if: exists });
    return;
  }
  await noteDomain(org, id);
  await table.update(key, { set: { verified, planState: "failed" satisfies PlanState }, if: exists });
};

/**
 * For the transaction of a write that relies on the watermark: the domain is still verified (if `mustBeVerified`) and no
 * scan has begun or finished with it since it was read.
 */
export const unchanged = (org: number, read: Domain, options: { mustBeVerified: boolean }): Write => ({
  check: keys.domain(org, read.id) satisfies Key,
  if: condition(
    `#planBy = :planBy AND #checkedBy = :checkedBy${options.mustBeVerified ? " AND #verified = :verified" : ""}`,
    {
      planBy: read.planBy,
      checkedBy: read.checkedBy,
      ...(options.mustBeVerified && { verified: true }),
    },
  ),
});
