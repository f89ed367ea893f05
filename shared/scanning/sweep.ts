import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import { type Key, organizationOf } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { renewalSeconds } from "../contract/scan-timing.ts";
import { chunksLeft } from "./email-chunks.ts";
import { end } from "./end.ts";
import { heldBy, maximumScanMilliseconds, type ScanLock } from "./lock.ts";
import { type ScanRecord, scans } from "./record.ts";

/** A scan ends when this many wakes in a row were in vain, which takes more than an hour. */
const maximumWakes = 5;

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
  const progress = progressOf(scan);
  const wakes = progress === lock.progress ? lock.wakes : 0;
  // After each wake in vain twice as long: messages of the scan may wait behind those of others, and more would make these wait longer.
  const silenceMilliseconds = 1000 * Math.max(minimumSilenceSeconds, silenceSeconds) * 2 ** wakes;
  if (now.getTime() - Date.parse(lock.dueAt) < silenceMilliseconds) return;
  // The silence is now longer than any worker runs.
  if (wakes >= maximumWakes) return end(org, scanId, interrupted);
  const { written } = await table.attempt(
    table.update(key, {
      set: { wakes: wakes + 1, progress, dueAt: now.toISOString() },
      if: heldBy(lock),
    }),
  );
  // Not written: the scan has ended, or a planner has begun, since its lock was read.
  if (!written) return;
  logger.warn("scan woken", { organizationId: org, scanId, wakes });
  const { fencingToken } = lock;
  await queue.send("scan-plans", { organizationId: org, scanId, fencingToken });
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
