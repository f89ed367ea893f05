/** Pages of breached addresses that nobody watches. */

import * as breachDetails from "../../hibp/breach-details.ts";
import { severityAt } from "../../hibp/severity.ts";
import { storedCoverage } from "../../hibp/subscription-state.ts";
import * as domains from "../domains/domain.ts";
import { noSearchOfDomain } from "../domains/domain-list.ts";
import { byId, type Filter, levelIn, type Row as OfDomain, rowsOf } from "./filter.ts";
import { idOf } from "./record.ts";
import * as store from "./store.ts";
import type { UnwatchedAddress, UnwatchedDomain } from "./unwatched-schema.ts";

type Query = Filter & { limit: number; offset: number; order?: "newest" | "severity" | undefined };

type Row = OfDomain & { domainId: number };

const breachesShown = 5;

/** A page, in two trips. Reads all that is kept of the domains that it is about. */
export const list = async (
  org: number,
  { limit, offset, order, ...filter }: Query,
): Promise<{
  addresses: UnwatchedAddress[];
  total: number;
  unwatched: number;
  domains: UnwatchedDomain[];
}> => {
  const [allDomains, catalogVersion, roots] = await Promise.all([
    domains.list(org),
    breachDetails.version(),
    store.roots(org),
  ]);
  const wanted = roots.filter((root) => filter.domainId === undefined || root.domainId === filter.domainId);
  const [names, coverage, stored] = await Promise.all([
    breachDetails.names(catalogVersion),
    storedCoverage(allDomains.map(({ name }) => name)),
    Promise.all(wanted.map((root) => store.read(org, root.domainId, root))),
  ]);
  const breaches = byId(names);
  const levelFor = (breachId: number): number => levelIn(breaches, breachId);
  const nameOf = new Map(allDomains.map(({ id, name }) => [id, name]));
  const matching = stored.flatMap(({ domainId, kept }) => {
    const domain = { id: domainId, name: nameOf.get(domainId) ?? "" };
    return rowsOf(domain, kept, breaches, filter).map((each): Row => ({ ...each, domainId }));
  });
  const shown = (row: Row): UnwatchedAddress => ({
    id: idOf(row.domainId, row.alias),
    email: `${row.alias}@${nameOf.get(row.domainId) ?? ""}`,
    domain: { id: row.domainId, name: nameOf.get(row.domainId) ?? "" },
    severity: severityAt(row.level),
    breachCount: row.breachIds.length,
    breaches: [...row.breachIds]
      .sort((one, other) => levelFor(other) - levelFor(one) || other - one)
      .slice(0, breachesShown)
      .map((id) => ({ id, title: breaches.get(id)?.title ?? `Breach ${id}` })),
    firstSeenAt: row.firstSeenAt,
    lastNewAt: row.lastNewAt,
    ignored: row.ignored,
  });
  const rootOf = new Map(roots.map((root) => [root.domainId, root]));
  return {
    addresses: inOrder(matching, order)
      .slice(offset, offset + limit)
      .map(shown),
    total: matching.length,
    unwatched: roots.reduce((sum, { open }) => sum + open, 0),
    domains: allDomains
      .filter(({ id }) => rootOf.get(id)?.answer !== undefined)
      .map((domain) => ({
        id: domain.id,
        name: domain.name,
        unwatched: rootOf.get(domain.id)?.open ?? 0,
        asOf: domain.checkedAt ?? domain.planAt ?? domain.createdAt,
        isCurrent: domain.verified && noSearchOfDomain(domain, coverage) === undefined,
      })),
  };
};

/** By the newest breach, within a level if the worst come first; of one scan by address. */
const inOrder = (rows: readonly Row[], order: Query["order"]): Row[] => {
  // Groups instead of comparisons, since half a million addresses have few levels and times.
  const groups = Map.groupBy(rows, ({ level, lastNewAt }) =>
    order === "severity" ? `${level} ${lastNewAt}` : lastNewAt,
  );
  return [...groups.keys()]
    .sort()
    .reverse()
    .flatMap((key) => groups.get(key) ?? []);
};
