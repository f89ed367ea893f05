import type { Invocation } from "../queue/consume.ts";
import * as queue from "../queue/queue.ts";
import { type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { chunksLeft } from "./chunks.ts";
import { end } from "./end.ts";
import { heldBy, leaseMilliseconds, maximumScanMilliseconds, type ScanLock, scans } from "./record.ts";

/** Times that somebody came and nothing was done, before a scan is ended. */
const maximumFruitlessSweeps = 3;

/** However fast waiting passes: workers that are at work say so at least this often. */
const minimumSilenceSeconds = 5;

/**
 * Wakes a scan whose workers have been silent, and ends one that is woken in vain or takes too long. `silenceSeconds`: after how
 * long they are woken again.
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
  // Between the last sign of life and the last wake, which nobody has taken yet: it waits, or it is lost. The next one comes
  // after as long again, so that a queue with a backlog gets a few messages of a scan and not one with each sweep.
  const unansweredMilliseconds = Date.parse(lock.dueAt) - Date.parse(lock.renewedAt);
  const silenceMilliseconds = 1000 * Math.max(minimumSilenceSeconds, silenceSeconds);
  const silentMilliseconds = now.getTime() - Date.parse(lock.dueAt);
  if (silentMilliseconds < Math.max(silenceMilliseconds, unansweredMilliseconds)) return;

  const left = chunksLeft(scan);
  const progress = [
    scan.scannedEmails,
    scan.failedEmails,
    scan.planned,
    left.length,
    left.reduce((sum, chunk) => sum + chunk.emails, 0),
  ].join("/");
  // A wake that nobody has taken says nothing of the scan: its queue may be slow, for a day at most.
  const wasAnswered = unansweredMilliseconds <= 0;
  const fruitlessSweeps = progress === lock.progress ? lock.fruitlessSweeps + (wasAnswered ? 1 : 0) : 0;
  if (fruitlessSweeps >= maximumFruitlessSweeps) {
    // Not while a worker may still be at work.
    if (now.getTime() - Date.parse(lock.renewedAt) > leaseMilliseconds) await end(org, scanId, interrupted);
    return;
  }
  try {
    await table.update(key, {
      set: { fruitlessSweeps, progress, dueAt: now.toISOString() },
      if: heldBy(scanId),
    });
  } catch (error) {
    // It ended meanwhile.
    if (error instanceof table.ConditionFailed) return;
    throw error;
  }
  logger.warn("scan woken", { organizationId: org, scanId, fruitlessSweeps });
  await queue.send("scan-plans", { organizationId: org, scanId, turn: lock.planTurn, resume: true });
};
