/** Domains as the dashboard lists them, with what the table knows of each beside its own row. */

import * as organizations from "../../access/organizations/organization.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { pageOf } from "../../contract/page.ts";
import { type Coverage, type NoSearch, noSearchOf, storedCoverage } from "../../hibp/subscription-state.ts";
import { emails } from "../emails/record.ts";
import * as domains from "./domain.ts";
import type { Domain } from "./domain-row.ts";
import type { ListedDomain } from "./domain-schema.ts";
import { recordOf } from "./proof-record.ts";

/** A page, newest first. */
export const list = async (
  org: number,
  page: { limit: number; offset: number },
): Promise<{ domains: ListedDomain[]; total: number }> => {
  const [all, tally] = await Promise.all([domains.list(org), emails.tally(org)]);
  const { items, total } = pageOf(all, page);
  const coverage = await storedCoverage(items.map(({ name }) => name));
  const emailCount = (id: number) => emails.sum(tally, (group) => group.domainId === id);
  return { domains: items.map((domain) => shown(domain, coverage, emailCount(domain.id))), total };
};

/** A domain that was just added, as `list` shows it. */
export const added = async (domain: Domain): Promise<ListedDomain> =>
  shown(domain, await storedCoverage([domain.name]), 0);

const shown = (domain: Domain, coverage: Coverage, emailCount: number): ListedDomain => ({
  id: domain.id,
  name: domain.name,
  isVerified: domain.verified,
  verifiedAt: domain.verifiedAt,
  checkedAt: domain.lookedUpAt ?? null,
  record: recordOf(domain),
  coverage:
    coverage.listed.has(domain.name) && noSearchOfDomain(domain, coverage) === undefined
      ? "domain_search"
      : "address_by_address",
  emailCount,
});

/**
 * Why HIBP does not search a domain whole, undefined if nothing says so. The last scan may have learned it after the
 * last synchronization, which never learns that a domain is too large.
 */
export const noSearchOfDomain = (domain: Domain, coverage: Coverage): NoSearch | undefined => {
  const { name, planState, planReason, planAt = "" } = domain;
  const stored = noSearchOf(name, coverage);
  if (stored !== undefined || planState !== "single") return stored;
  const isNews = planAt > (coverage.subscription?.at ?? "");
  return planReason === "too_large" || isNews
    ? ((planReason as NoSearch | undefined) ?? "refused")
    : undefined;
};

/**
 * The organizations with a verified domain of this name, by its record or an operator. Two requests for each
 * page of organizations: no row names those that operators have verified.
 */
export const verifiedFor = async (name: string): Promise<number[]> => {
  const found: number[] = [];
  for await (const orgs of organizations.everyId()) {
    const claims = await table.getMany<{ id: number }>(orgs.map((org) => keys.domainName(org, name)));
    const holders = orgs.flatMap((org, index) => {
      const claim = claims[index];
      return claim === undefined ? [] : [{ org, domain: keys.domain(org, claim.id) }];
    });
    const rows = await table.getMany<Domain>(holders.map(({ domain }) => domain));
    for (const [index, { org }] of holders.entries()) if (rows[index]?.verified) found.push(org);
  }
  return found;
};
