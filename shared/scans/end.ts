import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../activity/activity.ts";
import * as channels from "../alerts/channel.ts";
import * as delivery from "../alerts/delivery.ts";
import { isServed } from "../billing/billing.ts";
import type { UpstreamFailure } from "../catalog/hibp.ts";
import { forgetDomain, noteDomain, ownChecks } from "../emails/own-check.ts";
import { emails } from "../emails/record.ts";
import { rangeOf, watermarksWithin } from "../emails/watermark.ts";
import { findings } from "../findings/record.ts";
import { service } from "../organizations/actor.ts";
import type { Domain } from "../organizations/domain.ts";
import * as domains from "../organizations/domain.ts";
import * as organizations from "../organizations/organization.ts";
import * as queue from "../queue/queue.ts";
import { condition } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import { rolledUpKinds, rollUp } from "../table/roll-up.ts";
import * as table from "../table/table.ts";
import { type ChunkLeft, chunksLeft, close, isLookup, rangesOfChunk } from "./chunks.ts";
import { heldBy, type ScanRecord, type ScanRow, scans } from "./record.ts";

/** Whether everything that a scan planned is done. */
export const isDone = (scan: Pick<ScanRow, "planned" | "remaining">): boolean =>
  scan.planned && chunksLeft(scan).length === 0;

/** Whether a scan has settled what is to be done for a domain; or a later one did, which took the lock before. */
export const isPlanned = (domain: Domain, scanId: number): boolean =>
  domain.planBy > scanId ||
  (domain.planBy === scanId && domain.planState !== undefined && domain.planState !== "fetching");

/** Whether the scan, as it was read, knows of the domain's plan: a batch can be saved between two reads. */
const knowsPlan = (scan: ScanRecord, { planBy, planBatch = 0 }: Domain): boolean =>
  planBy !== scan.id || scan.remaining[planBatch] !== undefined;

/** Every failed try means that some work was finished. */
const maximumTries = 20;

/** Rows written at the same time. */
const width = 25;

type Ending = { reason?: string; logger: Logger };

/** Why an upstream's failure ends a scan. */
export const reasonOf = (failure: UpstreamFailure): string =>
  failure.kind === "unauthorized"
    ? "Have I Been Pwned refused the API key"
    : "Have I Been Pwned did not answer";

/**
 * Ends a scan, exactly once: completed when at least one e-mail was checked, else failed. What is not done counts as
 * failed and is left for the next scan, and nothing of it is written any more; `reason` says why.
 */
export const end = async (org: number, scanId: number, ending: Ending): Promise<void> => {
  const closed = new Set<string>();
  for (let count = 0; count < maximumTries; count++) {
    if (await endAsRead(org, scanId, ending, closed)) return;
  }
  throw new Error(`Scan ${scanId} kept changing while it was ended`);
};

/** A lapsed organization is not scanned any further. Whether it is one. */
export const endIfLapsed = async (org: number, scanId: number, logger: Logger): Promise<boolean> => {
  if (isServed(await organizations.get(org), new Date())) return false;
  await end(org, scanId, { reason: "the organization's subscription has lapsed", logger });
  return true;
};

/**
 * The end, the lock's release, the log entry and the alerts are one transaction; the domains' watermarks come before it,
 * since what they say is true by then. False when work was finished after the scan was read.
 */
const endAsRead = async (
  org: number,
  scanId: number,
  { reason, logger }: Ending,
  closed: Set<string>,
): Promise<boolean> => {
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return true;
  const from = scans.facetOf(scan);
  if (from.status !== "running" && from.status !== "pending") return true;

  await closeAll(org, scanId, chunksLeft(scan), closed);
  const [allDomains, alertChannels] = await Promise.all([domains.list(org), channels.list(org)]);
  const [counts, slot] = await Promise.all([countsOf(org, scan, allDomains), activity.slot(org)]);
  await setWatermarks(org, scan, allDomains);

  const { scannedCount, newBreachCount, failedCount, totalEmails } = counts;
  const completed = scannedCount > 0;
  const error = errorOf(counts, completed, reason);
  const raised = await delivery.raise(org, alertChannels, alertsOf(counts, completed, error));
  const status = completed ? "completed" : "failed";
  try {
    await table.transact([
      { delete: keys.scanLock(org), if: heldBy(scanId) },
      ...scans.writes(org, [
        scans.change(org, scanId, {
          from,
          to: { ...from, status },
          set: {
            completedAt: slot.createdAt,
            totalEmails,
            failedEmails: failedCount,
            newBreachesFound: newBreachCount,
            findingsItemized: completed,
            errorMessage: error,
            remaining: {},
          },
          // Work that was planned or finished since the row was read would be missing in what is written here.
          if: condition("#remaining = :remaining AND #scannedEmails = :scanned AND #failedEmails = :failed", {
            remaining: scan.remaining,
            scanned: scan.scannedEmails,
            failed: scan.failedEmails,
          }),
        }),
      ]),
      ...activity.writes(org, slot, {
        action: completed ? "scan.completed" : "scan.failed",
        summary: completed
          ? `Scanned ${scannedCount} of ${totalEmails} emails: ${newBreachCount} new breach findings`
          : (error ?? "The scan failed"),
        actor: service,
      }),
      ...delivery.deliveries.writes(org, raised.writes),
    ]);
  } catch (refused) {
    // Without the lock it is over, or its organization is being deleted.
    if (refused instanceof table.TransactionRefused) return refused.refused(0);
    throw refused;
  }
  logger.info("scan ended", {
    organizationId: org,
    scanId,
    status,
    scannedCount,
    failedCount,
    newBreachCount,
    reason,
  });
  try {
    await queue.sendAll("deliveries", raised.messages);
  } catch (late) {
    logger.warn("alerts go out late", { organizationId: org, error: late as Error });
  }
  await rollUpLists(org, logger);
  return true;
};

/** Scans are what makes these lists grow. What is left undone the next scan's end does. */
const rollUpLists = async (org: number, logger: Logger): Promise<void> => {
  const startedAt = Date.now();
  for (const kind of rolledUpKinds) {
    try {
      await rollUp(org, kind, startedAt);
    } catch (error) {
      logger.warn("a list is rolled up later", { organizationId: org, kind, error: error as Error });
    }
  }
};

/** So that what workers have found in these chunks is counted, and their e-mails can be called failed. */
const closeAll = async (
  org: number,
  scanId: number,
  chunks: readonly ChunkLeft[],
  closed: Set<string>,
): Promise<void> => {
  const open = chunks.filter(({ batch, chunk }) => !closed.has(`${batch}#${chunk}`));
  for (const part of parts(open, width)) {
    await Promise.all(part.map(({ batch, chunk }) => close(org, scanId, batch, chunk)));
  }
  for (const { batch, chunk } of open) closed.add(`${batch}#${chunk}`);
};

/** What a scan comes to, in e-mails, and the findings that it made. */
type Counts = { scannedCount: number; newBreachCount: number; failedCount: number; totalEmails: number };

/** Once the chunks that are left are closed. What is not done counts as failed, and so do e-mails of domains that are not planned. */
const countsOf = async (org: number, scan: ScanRecord, allDomains: readonly Domain[]): Promise<Counts> => {
  const unplanned = new Set(
    scan.planned
      ? []
      : allDomains
          .filter((domain) => domain.verified && !(isPlanned(domain, scan.id) && knowsPlan(scan, domain)))
          .map((domain) => domain.id),
  );
  const [findingsDirectory, emailsDirectory] = await Promise.all([
    findings.directory(org),
    unplanned.size > 0 ? emails.directory(org) : [],
  ]);
  const scannedCount = scan.scannedEmails;
  const failedCount =
    scan.failedEmails +
    chunksLeft(scan).reduce((sum, chunk) => sum + chunk.emails, 0) +
    emails.sum(emailsDirectory, (facet) => facet.isActive && unplanned.has(facet.domainId));
  const newBreachCount = findings.sum(findingsDirectory, (facet) => facet.scanId === scan.id);
  return { scannedCount, newBreachCount, failedCount, totalEmails: scannedCount + failedCount };
};

const errorOf = (
  { failedCount, totalEmails }: Counts,
  completed: boolean,
  reason: string | undefined,
): string | null => {
  const because = reason === undefined ? "" : `: ${reason}`;
  if (!completed && totalEmails === 0)
    return `No active emails on verified domains were left to scan${because}`;
  if (!completed) return `None of ${totalEmails} monitored emails could be scanned${because}`;
  if (failedCount === 0) return null;
  return `${failedCount} of ${totalEmails} monitored emails could not be scanned and will be retried on the next scan${because}`;
};

const alertsOf = (counts: Counts, completed: boolean, error: string | null): delivery.AlertEvent[] => {
  const { scannedCount, newBreachCount, failedCount, totalEmails } = counts;
  return [
    ...(completed
      ? [{ type: "scan_complete", scannedCount, newBreachCount, failedCount, totalEmails } as const]
      : []),
    ...(error === null ? [] : [{ type: "scan_error", error } as const]),
  ];
};

/**
 * Says of each domain whose answer was compared that its e-mails were checked then; but not those of chunks left over. A try to
 * end that was refused has said so too early: chunks that were done since are then not left over any more.
 */
const setWatermarks = async (org: number, scan: ScanRecord, allDomains: readonly Domain[]): Promise<void> => {
  const left = chunksLeft(scan).filter(({ chunk }) => !isLookup(chunk));
  const checked = allDomains.filter(
    (domain) =>
      domain.planBy === scan.id &&
      domain.planState === "checked" &&
      (domain.checkedBy < scan.id || (domain.checkedBy === scan.id && !isWhole(domain.stale))) &&
      knowsPlan(scan, domain),
  );
  const noted = checked.length > 0 ? (await ownChecks(org)).domains : new Set();
  for (const domain of checked) {
    const ranges = left
      .filter(({ batch }) => batch === domain.planBatch)
      .flatMap(({ chunk }) => rangesOfChunk(chunk));
    const isAgain = domain.checkedBy === scan.id;
    const stale = isAgain
      ? staleWithin(ranges, domain.stale)
      : Object.assign({}, ...ranges.map((range) => watermarksWithin(range, domain)));
    if (!isWhole(stale)) await noteDomain(org, domain.id);
    try {
      await table.update(keys.domain(org, domain.id), {
        set: { checkedBy: scan.id, checkedAt: domain.planAt, stale },
        if: condition(
          `#planBy = :scan AND #planState = :checked AND ${isAgain ? "#checkedBy = :scan AND #stale = :stale" : "#checkedBy < :scan"}`,
          { scan: scan.id, checked: "checked", ...(isAgain && { stale: domain.stale }) },
        ),
      });
      if (isWhole(stale) && noted.has(domain.id)) await forgetDomain(org, domain.id);
    } catch (error) {
      if (!(error instanceof table.ConditionFailed)) throw error;
    }
  }
};

const isWhole = (stale: Domain["stale"] = {}): boolean => Object.keys(stale).length === 0;

/** Those of a check's stale ranges that lie in one of these, which do not overlap. */
const staleWithin = (
  ranges: readonly { fromId: number; toId: number }[],
  stale: Domain["stale"] = {},
): NonNullable<Domain["stale"]> =>
  Object.fromEntries(
    Object.entries(stale).filter(([name]) => {
      const { fromId, toId } = rangeOf(name);
      return ranges.some((range) => fromId >= range.fromId && toId <= range.toId);
    }),
  );
