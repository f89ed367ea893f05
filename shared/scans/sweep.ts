import { deleteHistory } from "../alerts/history.ts";
import * as emails from "../emails/email.ts";
import * as deletion from "../organizations/deletion.ts";
import type { Invocation } from "../queue/consume.ts";
import * as queue from "../queue/queue.ts";
import { type DueKind, dueIndex, dueShardsOf, type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { chunksLeft } from "./chunks.ts";
import { end } from "./end.ts";
import { heldBy, leaseMilliseconds, maximumScanMilliseconds, type ScanLock, scans } from "./record.ts";
import { startRequested } from "./request.ts";

/** Times that somebody came and nothing was done, before a scan is ended. */
const maximumFruitlessSweeps = 3;

/** However fast waiting passes: workers that are at work say so at least this often. */
const minimumSilenceSeconds = 5;

/** Time for what has begun: nothing else is begun any more. */
const reserveSeconds = 30;

/** Settings of the sweep, in seconds. */
export type SweepSettings = {
  /** Silence after which a scan's workers are woken again. */
  silenceSeconds: number;
  /** From the beginning of an organization's deletion until its rows are deleted. */
  deletionSeconds: number;
};

/**
 * Starts scans that are requested, and goes on with what was cut off: scans whose workers have been silent, removals of e-mails and alert
 * channels, and organizations whose deletion
 * began long enough ago.
 */
export const sweep = async (invocation: Invocation, settings: SweepSettings): Promise<void> => {
  const now = new Date();
  const mayGoOn = () => invocation.remainingSeconds() > reserveSeconds;
  const acts: Record<Exclude<DueKind, "DELIVERY">, (key: Key) => Promise<unknown>> = {
    SCAN: (key) => sweepScan(key, now, invocation, settings),
    "SCAN-REQUEST": (key) => startRequested(key, invocation.logger),
    REMOVAL: (key) => emails.resumeRemoval(organizationOf(key), Number(key.sk)),
    "CHANNEL-REMOVAL": (key) => deleteHistory(organizationOf(key), Number(key.sk), mayGoOn),
    DELETION: (key) => deletion.resume(key, settings.deletionSeconds, mayGoOn),
  };
  let failures = 0;
  for (const [kind, act] of Object.entries(acts)) {
    failures += await forEachDue(kind as DueKind, now, invocation, act);
  }
  if (failures > 0) throw new Error(`${failures} of what was due failed`);
};

/** One that fails is logged and stays due; the others go on. How many failed. */
const forEachDue = async (
  kind: DueKind,
  now: Date,
  { logger, remainingSeconds }: Invocation,
  act: (key: Key) => Promise<unknown>,
): Promise<number> => {
  let failures = 0;
  for (const pk of dueShardsOf(kind)) {
    const pages = table.queryPages<Key>({ index: dueIndex, pk, to: now.toISOString() });
    for await (const page of pages) {
      for (const key of page) {
        if (remainingSeconds() < reserveSeconds) return failures;
        try {
          await act(key);
        } catch (error) {
          failures++;
          logger.error("sweep failed", { kind, organizationId: organizationOf(key), error: error as Error });
        }
      }
    }
  }
  return failures;
};

const sweepScan = async (
  key: Key,
  now: Date,
  { logger }: Invocation,
  settings: SweepSettings,
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
  const silenceMilliseconds = 1000 * Math.max(minimumSilenceSeconds, settings.silenceSeconds);
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
