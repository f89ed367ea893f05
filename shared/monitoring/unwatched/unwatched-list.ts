/** Pages of breached addresses that nobody watches. */
import * as domains from "../domains/domain.ts";
import { noSearchOfDomain } from "../domains/domain-list.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { levelOf, severityAt } from "../hibp/severity.ts";
import type { Severity } from "../hibp/severity-schema.ts";
import { storedCoverage } from "../hibp/subscription-state.ts";
import { type Entry, idOf, read, counts as readCounts } from "./record.ts";
import type { UnwatchedAddress, UnwatchedDomain } from "./unwatched-schema.ts";

type Query = {
  limit: number;
  offset: number;
  domainId?: number | undefined;
  ignored?: boolean | undefined;
  severity?: readonly Severity[] | undefined;
  order?: "newest" | "severity" | undefined;
};

type Listed = Entry & { id: number; domain: { id: number; name: string } };

/**
 * A page. Reads all buckets of the wanted domains, 4 KB of which hold about 150 addresses, and takes three trips, more
 * where a domain has more than 1 MB.
 */
export const list = async (
  org: number,
  { limit, offset, domainId, ignored, severity, order }: Query,
): Promise<{
  addresses: UnwatchedAddress[];
  total: number;
  unwatched: number;
  domains: UnwatchedDomain[];
}> => {
  const [allCounts, allDomains, catalogVersion] = await Promise.all([
    readCounts(org),
    domains.list(org),
    breachDetails.version(),
  ]);
  const levels = severity && new Set(severity.map(levelOf));
  const isWanted = ({ state, found }: Entry): boolean =>
    (state === "ignored" ? ignored !== false : state === "open" && ignored !== true) &&
    (levels?.has(found?.level ?? 0) ?? true);
  const counted = allCounts.flatMap((counts) => {
    const domain = allDomains.find(({ id }) => id === counts.domainId);
    return domain === undefined || counts.open + counts.ignored === 0 ? [] : { ...counts, domain };
  });
  const [coverage, ...ofDomains] = await Promise.all([
    storedCoverage(counted.map(({ domain }) => domain.name)),
    ...counted
      .filter(({ domain }) => domainId === undefined || domain.id === domainId)
      .map(
        async ({ domain: { id, name } }): Promise<Listed[]> =>
          (await read(org, id)).flatMap(({ bucket, entries }) =>
            entries
              .filter(isWanted)
              .map((entry) => ({ ...entry, id: idOf(id, bucket, entry.number), domain: { id, name } })),
          ),
      ),
  ]);
  const all = ofDomains.flat().sort((one, other) => {
    const worse = order === "severity" ? (other.found?.level ?? 0) - (one.found?.level ?? 0) : 0;
    if (worse !== 0) return worse;
    const [at = "", otherAt = ""] = [one.found?.firstSeenAt, other.found?.firstSeenAt];
    return at === otherAt ? other.id - one.id : at < otherAt ? 1 : -1;
  });
  const page = all.slice(offset, offset + limit);
  const details = await breachDetails.details(
    page.flatMap(({ found }) => found?.worst ?? []),
    catalogVersion,
  );
  return {
    addresses: page.map(({ id, alias, domain, state, found }) => ({
      id,
      email: `${alias}@${domain.name}`,
      domain,
      severity: found ? severityAt(found.level) : null,
      breachCount: found?.breachCount ?? 0,
      breaches: (found?.worst ?? []).map((breachId) => ({
        id: breachId,
        title: details.get(breachId)?.title ?? `Breach ${breachId}`,
      })),
      firstSeenAt: found?.firstSeenAt ?? null,
      ignored: state === "ignored",
    })),
    total: all.length,
    unwatched: counted.reduce((sum, { open }) => sum + open, 0),
    domains: counted.map(({ domain, open, asOf = "" }) => ({
      id: domain.id,
      name: domain.name,
      unwatched: open,
      // An answer without news is noted in the domain's row alone.
      asOf: (domain.checkedAt ?? "") > asOf ? (domain.checkedAt as string) : asOf,
      isCurrent: domain.verified && noSearchOfDomain(domain, coverage) === undefined,
    })),
  };
};
