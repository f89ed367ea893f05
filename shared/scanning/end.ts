import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../access/activity/activity.ts";
import { service } from "../access/activity/actor.ts";
import { isServed } from "../access/billing/billing.ts";
import * as organizations from "../access/organizations/organization.ts";
import { chunk as inChunksOf } from "../aws/table/chunk.ts";
import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { entryOfRule } from "../findings/rules/entries.ts";
import * as limiter from "../hibp/limiter.ts";
import { rate } from "../hibp/subscription-state.ts";
import { dropZeros } from "../lists/zeros.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { ownChecked, unmarkDomain } from "../monitoring/domains/own-checks.ts";
import { scanEnded, wake } from "../outbox/outbox.ts";
import { outcomesOf } from "./coverage.ts";
import { chunksLeft, closedRow, isLookup } from "./email-chunks.ts";
import { errorMessageOf, failuresOf, finalCounts, reasonOf } from "./final-counts.ts";
import { type ScanRecord, scans } from "./record.ts";
import { reportPlanNotices } from "./report-plan-notices.ts";
import { ending } from "./transitions.ts";

/** How many chunks are closed at the same time. */
const concurrency = 25;

/** Zeros are the last thing that a function removes, when little of its time may be left. */
const zerosMilliseconds = 8_000;

/** `reason`: why a scan ends before its work is done, as the end of a sentence. */
type Ending = { reason?: string; logger: Logger };

/**
 * Ends a scan, exactly once: completed when at least one e-mail was checked, else failed. E-mails of
 * unfinished chunks count as failed and are left for the next scan. Workers of these chunks write nothing
 * more.
 */
export const end = (org: number, scanId: number, ending: Ending): Promise<void> =>
  withOptimisticRetry(() => endAsRead(org, scanId, ending));

/** Ends the scan, and returns true, if the organization is not served or is being deleted. */
export const endIfNotServed = async (org: number, scanId: number, logger: Logger): Promise<boolean> => {
  if (isServed(await organizations.get(org), new Date())) return false;
  await end(org, scanId, { reason: "the organization's subscription has lapsed", logger });
  return true;
};

/**
 * Ends the scan as it was read: its status, the release of the lock, the log entry and the row of the
 * outbox are one transaction. The domains' watermarks are written before, since they already hold.
 * Throws `TransactionRefused` when a worker finished work after the scan was read.
 */
const endAsRead = async (org: number, scanId: number, { reason, logger }: Ending): Promise<void> => {
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return;
  const from = scans.groupOf(scan);
  if (from.status !== "running" && from.status !== "pending") return;

  // No worker writes anything of a closed chunk: its findings can be counted, and its other e-mails count as failed.
  for (const some of inChunksOf(chunksLeft(scan), concurrency)) {
    await Promise.all(some.map(({ batch, chunk }) => table.put(closedRow({ org, scanId, batch, chunk }))));
  }
  const allDomains = await domains.list(org);
  const counts = await finalCounts(org, scan, allDomains);
  await setWatermarks(org, scan, allDomains);

  const { scannedCount, newBreachCount, failedCount, totalEmails } = counts;
  // HIBP has answered a scan whose only answer is not believed.
  const isCompleted = scannedCount > 0 || (scan.failed_doubted ?? 0) > 0;
  const isHeldUp = counts.unreachedCount > 0 && (await limiter.lookUpWait(await rate())) > 0;
  const because = [
    ...(reason === undefined ? [] : [reason]),
    ...failuresOf(scan).map((failed) => failed.reason),
    ...(isHeldUp ? [reasonOf.rate_limited] : []),
  ].join("; ");
  const errorMessage = errorMessageOf(counts, isCompleted, because);
  await reportPlanNotices(org, allDomains);
  const ofRules = [...counts.endedCounts];
  const [slot, ...slots] = await activity.slots(org, 1 + ofRules.length);
  if (slot === undefined) throw new Error("No id of a log entry was reserved");
  const status = isCompleted ? "completed" : "failed";
  const attempt = await table.attempt(
    table.transact([
      ...ending(org, scan, {
        status,
        counts,
        outcomes: outcomesOf(scan, allDomains),
        errorMessage,
        completedAt: slot.createdAt,
      }),
      ...activity.writesOfSeveral(org, [
        ...ofRules.map(([rule, count], index) => ({
          reserved: slots[index] ?? slot,
          ...entryOfRule(rule, "ended", count, ` of scan ${scanId}`),
        })),
        {
          reserved: slot,
          action: isCompleted ? "scan.completed" : "scan.failed",
          summary: isCompleted
            ? `Scanned ${scannedCount} of ${totalEmails} addresses: ${newBreachCount} new ` +
              `${newBreachCount === 1 ? "finding" : "findings"}` +
              `${failedCount > 0 ? ` in those; ${failedCount} could not be scanned` : ""}`
            : (errorMessage ?? "The scan failed"),
          actor: service,
        },
      ]),
      scanEnded(org, {
        scanId,
        isFirst: scan.isFirst,
        isCompleted,
        scannedCount,
        newBreachCount,
        failedCount,
        totalEmails,
        error: errorMessage,
      }),
    ]),
  );
  if (!attempt.written) {
    // The first write fails when the scan has lost the lock: it is over, or its organization is being deleted.
    if (attempt.failed.some(({ index }) => index === 0)) return;
    throw new table.TransactionRefused(attempt.failed);
  }
  logger.info("scan ended", {
    organizationId: org,
    scanId,
    status,
    scannedCount,
    failedCount,
    newBreachCount,
    ...(because !== "" && { reason: because }),
  });
  await wake(org);
  const zerosEndAt = Date.now() + zerosMilliseconds;
  await dropZeros(org, ["EMAIL", "FINDING"], () => Date.now() < zerosEndAt, logger);
};

/**
 * Records on each domain whose batch is done that its e-mails were checked at `planAt`. Other domains keep
 * their earlier watermark, which is too early for some e-mails and too late for none. A later try to end the
 * scan finds their batch done.
 */
const setWatermarks = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly domains.Domain[],
): Promise<void> => {
  const isDone = ({ planBatch = 0 }: domains.Domain): boolean =>
    Object.keys(scan.remaining[planBatch] ?? { "": 0 }).every(isLookup);
  const checked = allDomains.filter(
    (domain) =>
      domain.plannedByScan === scan.id &&
      domain.planState === "checked" &&
      domain.checkedByScan < scan.id &&
      isDone(domain),
  );
  const marked = checked.length > 0 ? (await ownChecked(org)).domains : new Set();
  for (const { id, planAt } of checked) {
    // Not written: another worker ends this scan, or the domain was unverified or claimed by a later scan.
    const { written } = await table.attempt(
      table.update(keys.domain(org, id), {
        set: { checkedByScan: scan.id, checkedAt: planAt },
        if: condition("#plannedByScan = :scan AND #planState = :checked AND #checkedByScan < :scan", {
          scan: scan.id,
          checked: "checked",
        }),
      }),
    );
    if (written && marked.has(id)) await unmarkDomain(org, id);
  }
};
