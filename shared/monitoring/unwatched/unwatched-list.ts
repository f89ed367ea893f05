/** Pages of breached addresses that nobody watches. */
import * as domains from "../domains/domain.ts";
import { noSearchOfDomain } from "../domains/domain-list.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { levelOf, severityAt } from "../hibp/severity.ts";
import { type Severity, severities } from "../hibp/severity-schema.ts";
import { storedCoverage } from "../hibp/subscription-state.ts";
import { type UnwatchedGroup, unwatched } from "./record.ts";
import type { UnwatchedAddress, UnwatchedDomain } from "./unwatched-schema.ts";

type Query = {
  limit: number;
  offset: number;
  domainId?: number | undefined;
  ignored?: boolean | undefined;
  severity?: readonly Severity[] | undefined;
  order?: "newest" | "severity" | undefined;
};

/** Worst first, and last those whose severity is not kept. */
const bySeverity = [...severities.map(levelOf), 0].map(
  (level) =>
    (group: UnwatchedGroup): boolean =>
      group.level === level,
);

/** A page, in three trips. */
export const list = async (
  org: number,
  { limit, offset, domainId, ignored, severity, order }: Query,
): Promise<{
  addresses: UnwatchedAddress[];
  total: number;
  unwatched: number;
  domains: UnwatchedDomain[];
}> => {
  const levels = severity && new Set(severity.map(levelOf));
  const [allDomains, catalogVersion, { items, total, directory }] = await Promise.all([
    domains.list(org),
    breachDetails.version(),
    unwatched.page(org, {
      limit,
      offset,
      matches: (group) =>
        (domainId === undefined || group.domainId === domainId) &&
        (ignored === undefined || group.isIgnored === ignored) &&
        (levels === undefined || levels.has(group.level)),
      ...(order === "severity" && { order: bySeverity }),
    }),
  ]);
  const countOf = (matches: (group: UnwatchedGroup) => boolean): number => unwatched.sum(directory, matches);
  const listed = allDomains.filter(({ id }) => countOf((group) => group.domainId === id) > 0);
  const [coverage, details] = await Promise.all([
    storedCoverage(listed.map(({ name }) => name)),
    breachDetails.details(
      items.flatMap(({ worst = [] }) => worst),
      catalogVersion,
    ),
  ]);
  return {
    addresses: items.map((row) => {
      const { id, email, breachCount = 0, worst = [], firstSeenAt = null } = row;
      const group = unwatched.groupOf(row);
      const { name = "" } = allDomains.find((domain) => domain.id === group.domainId) ?? {};
      return {
        id,
        email,
        domain: { id: group.domainId, name },
        severity: group.level === 0 ? null : severityAt(group.level),
        breachCount,
        breaches: worst.map((breachId) => ({
          id: breachId,
          title: details.get(breachId)?.title ?? `Breach ${breachId}`,
        })),
        firstSeenAt,
        ignored: group.isIgnored,
      };
    }),
    total,
    unwatched: countOf(({ isIgnored }) => !isIgnored),
    domains: listed.map((domain) => ({
      id: domain.id,
      name: domain.name,
      unwatched: countOf((group) => group.domainId === domain.id && !group.isIgnored),
      asOf: domain.checkedAt ?? domain.planAt ?? domain.createdAt,
      isCurrent: domain.verified && noSearchOfDomain(domain, coverage) === undefined,
    })),
  };
};
