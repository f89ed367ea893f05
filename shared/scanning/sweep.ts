import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import { type Key, organizationOf } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { renewalSeconds } from "../contract/scan-timing.ts";
import { chunksLeft, isLookup } from "./email-chunks.ts";
import { end } from "./end.ts";
import { heldBy, leaseMilliseconds, maximumScanMilliseconds, type ScanLock } from "./lock.ts";
import { type ScanRecord, scans } from "./record.ts";

/** A scan ends when this many sweeps in a row find no progress although a worker answered each wake. */
const maximumFruitlessSweeps = 3;

/** The least silence, for local runs that shorten all waiting times: a renewal may be two seconds late. */
const minimumSilenceSeconds = renewalSeconds + 2;

/**
 * Wakes a planner for a scan whose workers have been silent for `silenceSeconds`. Ends a scan that was woken
 * in vain or that takes too long.
 */
export const sweepScan = async (
  key: Key,
  now: Date,
  { logger }: Invocation,
  { silenceSeconds }: { silenceSeconds: number },
): Promise<void> => {
  const org = organizationOf(key);
  const lock = await table.get<ScanLock>(key);
  if (lock === undefined) return;
  const { scanId } = lock;
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return;
  const interrupted = { reason: "the scan was interrupted", logger };
  if (now.getTime() - Date.parse(scan.createdAt) >= maximumScanMilliseconds)
    return end(org, scanId, interrupted);
  // Positive while no worker has answered the last wake, whose message then waits in its queue or is lost.
  // The next wake comes after as much time again, so that a queue with a backlog gets a few messages of a
  // scan and not one from each sweep.
  const unansweredMilliseconds = Date.parse(lock.dueAt) - Date.parse(lock.renewedAt);
  const silenceMilliseconds = 1000 * Math.max(minimumSilenceSeconds, silenceSeconds);
  const silentMilliseconds = now.getTime() - Date.parse(lock.dueAt);
  if (silentMilliseconds < Math.max(silenceMilliseconds, unansweredMilliseconds)) return;

  const progress = progressOf(scan);
  // A wake without an answer says nothing about the scan, since its queue may be slow.
  const wasAnswered = unansweredMilliseconds <= 0;
  if (wasAnswered && progress === lock.progress && (await isAnyChunkWaiting(scan))) return;
  const fruitlessSweeps = progress === lock.progress ? lock.fruitlessSweeps + (wasAnswered ? 1 : 0) : 0;
  if (fruitlessSweeps >= maximumFruitlessSweeps) {
    const isAbandoned = now.getTime() - Date.parse(lock.renewedAt) > leaseMilliseconds;
    if (isAbandoned) await end(org, scanId, interrupted);
    return;
  }
  const { written } = await table.attempt(
    table.update(key, {
      set: { fruitlessSweeps, progress, dueAt: now.toISOString() },
      if: heldBy(scanId),
    }),
  );
  // Not written: the scan has ended since its lock was read.
  if (!written) return;
  logger.warn("scan woken", { organizationId: org, scanId, fruitlessSweeps });
  const { fencingToken } = lock;
  await queue.send("scan-plans", { organizationId: org, scanId, fencingToken });
};

/**
 * Whether messages of the scan's chunks, which the planner that answered has sent again, may wait behind those of other scans. To send them
 * once more would make the others wait longer.
 */
const isAnyChunkWaiting = async (scan: ScanRecord): Promise<boolean> => {
  if (!scan.planned) return false;
  const queues = new Set(
    chunksLeft(scan).map(({ chunk }) => (isLookup(chunk) ? "scan-lookups" : "scan-checks")),
  );
  return (await Promise.all([...queues].map(queue.isAnyWaiting))).includes(true);
};

/** How far a scan is, as a text that changes with any progress. */
const progressOf = (scan: ScanRecord): string => {
  const left = chunksLeft(scan);
  return [
    scan.scannedEmails,
    scan.failedEmails,
    scan.planned,
    left.length,
    left.reduce((sum, chunk) => sum + chunk.emails, 0),
  ].join("/");
};
