import { randomBytes } from "node:crypto";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { absent, allOf, asRead, type Condition, condition, type Write } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { drawId } from "../../lists/blocks.ts";
import { domainChanged } from "./directory-task.ts";
import type { Domain } from "./domain-row.ts";

export type { Domain, PlanState } from "./domain-row.ts";

/**
 * Adds a domain. `proof`: its DNS record is looked up daily from now on, and the activity log shows `proof`
 * as the actor. "exists": the organization already has a domain of this name.
 */
export const create = async (
  org: number,
  input: { name: string; verified: boolean },
  { proof }: { proof?: Actor } = {},
): Promise<Domain | "exists"> => {
  const name = input.name.toLowerCase();
  if ((await table.get(keys.domainName(org, name))) !== undefined) return "exists";
  const [id, slot] = await Promise.all([drawId("DOMAIN"), proof && activity.slot(org)]);
  const createdAt = slot?.createdAt ?? new Date().toISOString();
  const domain: Domain = {
    id,
    name,
    verified: input.verified,
    ...(input.verified && { verifiedBy: "operator" }),
    verifiedAt: input.verified ? createdAt : null,
    createdAt,
    proofToken: newProofToken(),
    plannedByScan: 0,
    checkedByScan: 0,
    checkedAt: null,
  };
  const nameClaim: Write = { put: { ...keys.domainName(org, domain.name), id }, if: absent };
  const writes = [
    nameClaim,
    ...(input.verified ? [domainChanged(org, domain)] : []),
    { put: { ...keys.domain(org, id), ...domain, ...(proof && lookedUp(id, createdAt)) }, if: absent },
    ...(proof && slot
      ? activity.writes(org, slot, {
          action: "domain.added",
          summary: `Added the domain ${domain.name}`,
          actor: proof,
        })
      : []),
  ];
  const created = await table.attempt(table.transact(writes));
  if (created.written) return domain;
  if (created.failed.some(({ index }) => writes[index] === nameClaim)) return "exists";
  throw new table.TransactionRefused(created.failed);
};

/** The random part of a domain's DNS record. */
export const newProofToken = (): string => randomBytes(16).toString("hex");

/** A day after this time the sweep looks the DNS record up. */
export const lookedUp = (id: number, at: string) => ({ dueShard: dueShard("DOMAIN-PROOF", id), dueAt: at });

export const get = (org: number, id: number): Promise<Domain | undefined> => table.get(keys.domain(org, id));

/** The domain of an e-mail. Throws if it does not exist, since a domain is removed only without e-mails. */
export const existing = async (org: number, id: number): Promise<Domain> => {
  const domain = await get(org, id);
  if (domain === undefined) throw new Error(`Domain ${id} of organization ${org} does not exist`);
  return domain;
};

export const getMany = async (org: number, ids: readonly number[]): Promise<Map<number, Domain>> => {
  const rows = await table.getMany<Domain>([...new Set(ids)].map((id) => keys.domain(org, id)));
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]));
};

export const list = (org: number): Promise<Domain[]> => table.query({ pk: keys.domain(org, 0).pk });

/**
 * The check for a transaction that relies on the domain as it was read. Since then no scan has begun or
 * finished with it, it is still verified, and nobody is removing it. It names no attribute of
 * `attributesOfVerification` (keys.ts), since the role of whoever makes it may not.
 */
export const unchanged = (org: number, { id, plannedByScan, checkedByScan, verifiedAt }: Domain): Write => ({
  check: keys.domain(org, id),
  if: allOf(
    asRead({ plannedByScan, checkedByScan, verifiedAt }),
    condition("attribute_not_exists(#removing) OR #removing < :now", { now: new Date().toISOString() }),
  ) as Condition,
});
