import { Refusal } from "../contract/errors.ts";
import { retentionAt } from "../contract/retention.ts";
import * as domains from "../monitoring/domains/domain.ts";
import type { ScanCoverage } from "./coverage-schema.ts";
import { failuresOf } from "./final-counts.ts";
import { outcomesOf, shownOutcome } from "./outcome.ts";
import { scans } from "./record.ts";

/**
 * What a scan of the last 365 days checked and what not; of a scan in progress, so far. One trip to the table.
 * @throws Refusal `scanNotFound`
 */
export const get = async (org: number, scanId: number, now: Date): Promise<ScanCoverage> => {
  const [scan, allDomains] = await Promise.all([scans.get(org, scanId), domains.list(org)]);
  if (scan === undefined || scan.createdAt < retentionAt(now).visibleSince) throw new Refusal("scanNotFound");
  const { scannedEmails, skippedEmails, unreachedEmails = 0, oldestUnreached = null } = scan;
  const isOver = scan.completedAt !== null;
  const outcomes = scan.outcomes ?? (isOver ? {} : outcomesOf(scan, allDomains));
  const byDomain = new Map(
    Object.entries(outcomes).flatMap(([outcome, ids]) => ids.map((id) => [id, outcome] as const)),
  );
  return {
    checked: scannedEmails,
    failed: failuresOf(scan),
    skipped: skippedEmails > 0 ? [{ reason: "the domain is not verified", count: skippedEmails }] : [],
    stale: { count: unreachedEmails, oldest: oldestUnreached },
    domains: allDomains.flatMap(({ id, name }) => {
      const outcome = byDomain.get(id);
      return outcome === undefined ? [] : [{ id, name, ...shownOutcome(outcome) }];
    }),
  };
};
