/** How a scan asked about a domain, and what the domain's row keeps of it. */
import type { Change } from "../aws/table/condition.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { type NoSearch, noSearchInWords } from "../monitoring/hibp/subscription-state.ts";
import type { DomainAnswer } from "./ask-upstream.ts";
import { holdsBatchOf, reasonOf } from "./final-counts.ts";
import type { FailureKind, ScanRecord } from "./record.ts";

/** "searched": whole, with an answer that is believed; "unreached": not asked about; otherwise, why it was not searched whole. */
export type Outcome = "searched" | "unreached" | NoSearch | FailureKind;

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
  if (domain.plannedByScan !== scan.id || !holdsBatchOf(scan, domain)) return "unreached";
  if (domain.planState === "checked") return "searched";
  if (domain.planState === "single") return domain.planReason ?? "refused";
  return domain.planState === "failed" ? (domain.planReason ?? "unreached") : "unreached";
};

const isNoSearch = (outcome: string): outcome is NoSearch => Object.hasOwn(noSearchInWords, outcome);

/** As clients see it. `reason`: why the domain was not searched whole, as the end of a sentence; null if it was. */
export const shownOutcome = (
  outcome: string,
): { method: "domain_search" | "address_by_address"; reason: string | null } => {
  if (isNoSearch(outcome)) return { method: "address_by_address", reason: noSearchInWords[outcome] };
  const reason =
    outcome === "unreached" ? "the scan has not asked about it" : reasonOf[outcome as FailureKind];
  return { method: "domain_search", reason: reason ?? null };
};
