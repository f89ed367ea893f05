import { endedByOf, findings } from "../findings/record.ts";
import { type RuleId, rulesInOrder } from "../findings/rules/rule-schema.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { lastScannedAt } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import { isIncluded } from "./compare-email.ts";
import { chunksLeft } from "./email-chunks.ts";
import type { FailureKind, ScanRecord } from "./record.ts";

/** The result of a scan. `newBreachCount`: its findings; the other counts are of e-mails. */
export type FinalCounts = {
  scannedCount: number;
  newBreachCount: number;
  failedCount: number;
  totalEmails: number;
  /** Of the failed ones, those that the scan did not reach. */
  unreachedCount: number;
  oldestUnreached: string | null;
  /** Active e-mails on domains that are not verified; they are in no other count. */
  skippedCount: number;
  /** How many of its findings each rule has ended; without rules that ended none. */
  endedCounts: ReadonlyMap<RuleId, number>;
};

/**
 * Counts the result of a scan whose unfinished chunks are closed. E-mails of these chunks, and of domains
 * that were not planned, count as failed.
 */
export const finalCounts = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
): Promise<FinalCounts> => {
  const unplanned = unplannedOf(scan, allDomains);
  const unverified = new Set(allDomains.filter((domain) => !domain.verified).map((domain) => domain.id));
  const [findingsTally, emailsTally] = await Promise.all([
    findings.tally(org),
    unplanned.size + unverified.size > 0 ? emails.tally(org) : [],
  ]);
  const scannedCount = scan.scannedEmails;
  const countOf = (domainIds: ReadonlySet<number>): number =>
    emails.sum(emailsTally, (group) => group.isActive && domainIds.has(group.domainId));
  const unreachedCount = chunksLeft(scan).reduce((sum, chunk) => sum + chunk.emails, 0) + countOf(unplanned);
  const failedCount = scan.failedEmails + unreachedCount;
  const newBreachCount = findings.sum(findingsTally, (group) => group.scanId === scan.id);
  const endedBy = (rule: RuleId): number =>
    findings.sum(findingsTally, (group) => group.scanId === scan.id && group.endedBy === endedByOf({ rule }));
  const endedCounts = new Map(
    rulesInOrder.map((rule): [RuleId, number] => [rule, endedBy(rule)]).filter(([, count]) => count > 0),
  );
  return {
    scannedCount,
    newBreachCount,
    failedCount,
    totalEmails: scannedCount + failedCount,
    unreachedCount,
    oldestUnreached:
      unreachedCount > 0 ? await oldestCheckOfUnreached(org, scan, allDomains, unplanned) : null,
    skippedCount: countOf(unverified),
    endedCounts,
  };
};

/**
 * Whether a scan has nothing left to plan for a domain. That includes domains of a scan with a higher id. It
 * can hold the lock first, because ids are reserved before the lock is taken.
 */
export const isPlanned = (domain: Domain, scanId: number): boolean =>
  domain.plannedByScan > scanId ||
  (domain.plannedByScan === scanId && domain.planState !== undefined && domain.planState !== "fetching");

/** The ids of the verified domains that a scan did not plan. */
const unplannedOf = (scan: ScanRecord, allDomains: readonly Domain[]): Set<number> =>
  new Set(
    scan.planned
      ? []
      : allDomains
          .filter((domain) => domain.verified && !isPlanned(domain, scan.id))
          .map((domain) => domain.id),
  );

/**
 * The earliest of the last checks of the e-mails that a scan did not reach; null if none of them was
 * checked before. Reads the e-mails of their domains, as planning them would have.
 */
const oldestCheckOfUnreached = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
  unplanned: ReadonlySet<number>,
): Promise<string | null> => {
  const batches = new Set(chunksLeft(scan).map(({ batch }) => batch));
  const isLeft = ({ id, plannedByScan, planState, planBatch = 0 }: Domain): boolean =>
    unplanned.has(id) || (plannedByScan === scan.id && planState !== "failed" && batches.has(planBatch));
  const left = new Map(allDomains.filter(isLeft).map((domain) => [domain.id, domain]));
  const blocks = emails.blocks(
    await emails.tally(org),
    (group) => group.isActive && left.has(group.domainId),
  );
  let oldest: string | null = null;
  for await (const rows of emails.membersOf(org, blocks)) {
    for (const row of rows) {
      const group = emails.groupOf(row);
      const domain = left.get(group.domainId);
      if (domain === undefined || !isIncluded(row, group, scan.id)) continue;
      const at = lastScannedAt(row, domain);
      if (at !== null && at < scan.createdAt && at < (oldest ?? scan.createdAt)) oldest = at;
    }
  }
  return oldest;
};

/** Why e-mails fail, as the end of a sentence. */
export const reasonOf: Readonly<Record<FailureKind, string>> = {
  unauthorized: "Have I Been Pwned refused the API key",
  no_subscription: "Have I Been Pwned has no active subscription for the API key",
  forbidden: "Have I Been Pwned refused to look addresses up with this API key",
  blocked: "Have I Been Pwned blocked this service at its edge",
  rate_limited: "the rate limit of Have I Been Pwned is used up",
  bad_request: "Have I Been Pwned refused an address as malformed",
  unavailable: "Have I Been Pwned did not answer",
  doubted:
    "an answer of Have I Been Pwned lacked more than half of what was known, and is not believed " +
    "until a second scan confirms it",
};

/** Why e-mails of a scan failed, and how many, the most frequent reason first. */
export const failuresOf = (scan: ScanRecord): { reason: string; count: number }[] =>
  (Object.keys(reasonOf) as FailureKind[])
    .map((kind) => ({ reason: reasonOf[kind], count: scan[`failed_${kind}`] ?? 0 }))
    .filter(({ count }) => count > 0)
    .sort((one, other) => other.count - one.count);

/**
 * Why a scan failed, or why some e-mails of a completed scan did; null when nothing failed. `reason`: as the end of a
 * sentence, empty if there is none.
 */
export const errorMessageOf = (
  { failedCount, totalEmails }: FinalCounts,
  isCompleted: boolean,
  reason: string,
): string | null => {
  const because = reason === "" ? "" : `: ${reason}`;
  if (!isCompleted && totalEmails === 0)
    return `No active emails on verified domains were left to scan${because}`;
  if (!isCompleted) return `None of ${totalEmails} monitored emails could be scanned${because}`;
  if (failedCount === 0) return null;
  return (
    `${failedCount} of ${totalEmails} monitored emails could not be scanned and will be retried on ` +
    `the next scan${because}`
  );
};
