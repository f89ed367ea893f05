/** The DNS record that proves a domain, and the row that says whose domain of a name is proved. */
import { randomBytes } from "node:crypto";
import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Domain } from "./domain-row.ts";

export const newProofToken = (): string => randomBytes(16).toString("hex");

const host = "_breach-monitor";

/** The TXT record that the domain must have. */
export const recordOf = (
  domain: Pick<Domain, "name" | "proofToken">,
): { type: "TXT"; name: string; value: string } => ({
  type: "TXT",
  name: `${host}.${domain.name}`,
  value: `breach-monitor=${domain.proofToken}`,
});

/**
 * Whether the values of TXT records hold the domain's. Forms of DNS providers and people add quotes, white space
 * and words to it, and change its case. A letter or digit directly before or behind it makes another value.
 */
export const isProof = (domain: Pick<Domain, "name" | "proofToken">, values: readonly string[]): boolean => {
  const { value } = recordOf(domain);
  const written = new RegExp(`(?<![a-z0-9])${[...value].join("[^a-z0-9=-]*")}(?![a-z0-9])`);
  return values.some((each) => written.test(each.toLowerCase()));
};

/** How many labels a domain has more than its zone, at most. */
const maximumZones = 3;

/**
 * The names under which the record is found when it was entered wrongly: with the zone added by the
 * provider's form, or in a parent's zone without the domain's own labels. It may also lack the underscore, or
 * stand at the domain itself.
 */
export const mistakenNames = ({ name }: Pick<Domain, "name">): string[] => {
  const labels = name.split(".");
  const zones = labels
    .slice(0, -1)
    .map((_, index) => labels.slice(index).join("."))
    .slice(0, maximumZones);
  return [
    ...zones.map((zone) => `${host}.${name}.${zone}`),
    ...zones.slice(1).map((zone) => `${host}.${zone}`),
    `breach-monitor.${name}`,
    name,
  ];
};

/** Whose domain of a name is proved by a record: at most one in the whole deployment. */
export type ProvenDomain = { organizationId: number; domainId: number };

export const provenDomain = (name: string): Promise<ProvenDomain | undefined> =>
  table.get(keys.provenDomain(name));

/** Says that the domain is the proved one of its name, if nobody has said anything since `before` was read. */
export const claim = (
  org: number,
  { id, name }: Pick<Domain, "id" | "name">,
  before: ProvenDomain | undefined,
): Write => ({
  put: { ...keys.provenDomain(name), organizationId: org, domainId: id },
  if: before === undefined ? absent : isOf(before.organizationId, before.domainId),
});

/** Undoes `claim`; nothing if the name is not this domain's. `before`: as it was read. */
export const release = (
  org: number,
  domain: Pick<Domain, "id" | "name">,
  before: ProvenDomain | undefined,
): Write[] =>
  isClaimOf(org, domain, before)
    ? [{ delete: keys.provenDomain(domain.name), if: isOf(org, domain.id) }]
    : [];

export const isClaimOf = (
  org: number,
  { id }: Pick<Domain, "id">,
  proven: ProvenDomain | undefined,
): boolean => proven?.organizationId === org && proven.domainId === id;

const isOf = (organizationId: number, domainId: number) =>
  condition("#organizationId = :claimant AND #domainId = :domain", {
    claimant: organizationId,
    domain: domainId,
  });
