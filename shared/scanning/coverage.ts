/** How a scan asked about a domain, what the domain's row keeps of it, and what people are told. */
import type { Change } from "../aws/table/condition.ts";
import { Refusal } from "../contract/errors.ts";
import { retentionAt } from "../contract/retention.ts";
import { type NoSearch, noSearchInWords } from "../hibp/subscription-state.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import * as domains from "../monitoring/domains/domain.ts";
import type { DomainAnswer } from "./ask-upstream.ts";
import type { ScanCoverage } from "./coverage-schema.ts";
import { failuresOf, reasonOf } from "./final-counts.ts";
import { type FailureKind, type ScanRecord, scans } from "./record.ts";

/**
 * "searched": whole, with an answer that is believed; "unreached": not asked about; otherwise, why it
 * was not searched whole.
 */
type Outcome = "searched" | "unreached" | NoSearch | FailureKind;

/** What a planner writes on a domain's row when it saves what was answered. */
export const outcomeOfAnswer = (
  { domain, state, reason }: DomainAnswer,
  scanId: number,
  isDoubted: boolean,
): Pick<Change, "set" | "remove"> => {
  if (isDoubted) return { set: { planState: "failed", planReason: "doubted", doubtedByScan: scanId } };
  if (state === "checked") return { set: { planState: state }, remove: ["doubtedByScan", "lostSearch"] };
  const isLost = state === "single" && domain.checkedByScan > 0;
  return { set: { planState: state, planReason: reason, ...(isLost && { lostSearch: reason }) } };
};

/** The ids of the verified domains by what the scan made of each. */
export const outcomesOf = (scan: ScanRecord, allDomains: readonly Domain[]): Record<string, number[]> => {
  const verified = allDomains.filter((domain) => domain.verified);
  const byOutcome = Map.groupBy(verified, (domain) => outcomeOf(scan, domain));
  return Object.fromEntries([...byOutcome].map(([outcome, of]) => [outcome, of.map(({ id }) => id)]));
};

const outcomeOf = (scan: ScanRecord, domain: Domain): Outcome => {
  if (domain.plannedByScan !== scan.id) return "unreached";
  if (domain.planState === "checked") return "searched";
  if (domain.planState === "single") return domain.planReason ?? "refused";
  return domain.planState === "failed" ? (domain.planReason ?? "unreached") : "unreached";
};

const isNoSearch = (outcome: string): outcome is NoSearch => Object.hasOwn(noSearchInWords, outcome);

/** As clients see it. `reason`: why the domain was not searched whole, as the end of a sentence; null if it was. */
const shownOutcome = (
  outcome: string,
): { method: "domain_search" | "address_by_address"; reason: string | null } => {
  if (isNoSearch(outcome)) return { method: "address_by_address", reason: noSearchInWords[outcome] };
  const reason =
    outcome === "unreached" ? "the scan has not asked about it" : reasonOf[outcome as FailureKind];
  return { method: "domain_search", reason: reason ?? null };
};

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
