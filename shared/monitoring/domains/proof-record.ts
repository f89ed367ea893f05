/** The DNS record that proves a domain, and the row that says whose domain of a name is proved. */
import { randomBytes } from "node:crypto";
import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Domain } from "./domain-row.ts";

export const newProofToken = (): string => randomBytes(16).toString("hex");

/** The TXT record that the domain must have. */
export const recordOf = (
  domain: Pick<Domain, "name" | "proofToken">,
): { type: "TXT"; name: string; value: string } => ({
  type: "TXT",
  name: `_breach-monitor.${domain.name}`,
  value: `breach-monitor=${domain.proofToken}`,
});

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
