/** Pages of breached addresses that nobody watches. */

import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf, severityAt } from "../../hibp/severity.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import { storedCoverage } from "../../hibp/subscription-state.ts";
import * as domains from "../domains/domain.ts";
import { noSearchOfDomain } from "../domains/domain-list.ts";
import { idOf, type Listed, listedIn } from "./record.ts";
import * as store from "./store.ts";
import type { UnwatchedAddress, UnwatchedDomain } from "./unwatched-schema.ts";

type Query = {
  limit: number;
  offset: number;
  domainId?: number | undefined;
  ignored?: boolean | undefined;
  severity?: readonly Severity[] | undefined;
  order?: "newest" | "severity" | undefined;
};

/** `level`: the severity of its worst breach. */
type Row = Listed & { domainId: number; level: number };

const breachesShown = 5;

/** A page, in two trips. Reads all that is kept of the domains that it is about. */
export const list = async (
  org: number,
  { limit, offset, domainId, ignored, severity, order }: Query,
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
  const wanted = roots.filter((root) => domainId === undefined || root.domainId === domainId);
  const [names, coverage, stored] = await Promise.all([
    breachDetails.names(catalogVersion),
    storedCoverage(allDomains.map(({ name }) => name)),
    Promise.all(wanted.map((root) => store.read(org, root.domainId, root))),
  ]);
  const breaches = new Map([...names.values()].map((row) => [row.id, row]));
  const levelFor = (breachId: number): number => breaches.get(breachId)?.level ?? 1;
  const levels = severity && new Set(severity.map(levelOf));
  const rows = stored.flatMap(({ domainId, kept }) =>
    listedIn(kept).map((each): Row => {
      const level = each.breachIds.reduce((worst, id) => Math.max(worst, levelFor(id)), 1);
      return { ...each, domainId, level };
    }),
  );
  const matching = rows.filter(
    (row) =>
      (ignored === undefined || row.ignored === ignored) && (levels === undefined || levels.has(row.level)),
  );
  const nameOf = new Map(allDomains.map(({ id, name }) => [id, name]));
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

/** Newest first, within a level if the worst come first; of one scan by address. */
const inOrder = (rows: readonly Row[], order: Query["order"]): Row[] => {
  // Groups instead of comparisons, since half a million addresses have few levels and times.
  const groups = Map.groupBy(rows, ({ level, firstSeenAt }) =>
    order === "severity" ? `${level} ${firstSeenAt}` : firstSeenAt,
  );
  return [...groups.keys()]
    .sort()
    .reverse()
    .flatMap((key) => groups.get(key) ?? []);
};
