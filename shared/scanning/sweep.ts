import { type Sweep, sweepJob } from "../aws/queue/job.ts";
import * as queue from "../aws/queue/queue.ts";
import { type Key, organizationOf } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { chunksLeft } from "./email-chunks.ts";
import { end } from "./end.ts";
import { maximumScanMilliseconds, type ScanLock } from "./lock.ts";
import { type ScanRecord, scans } from "./record.ts";

/** Wakes a planner for a silent scan. Ends a scan that was woken in vain or that takes too long. */
export const sweepScan = async (key: Key, sweep: Sweep): Promise<void> => {
  const org = organizationOf(key);
  const lock = await table.get<ScanLock>(key);
  if (lock === undefined) return;
  const { scanId, fencingToken } = lock;
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return;
  const giveUp = () => end(org, scanId, { reason: "the scan was interrupted", logger: sweep.logger });
  if (sweep.now.getTime() - Date.parse(scan.createdAt) >= maximumScanMilliseconds) return giveUp();
  const wake = () => queue.send("scan-plans", { organizationId: org, scanId, fencingToken });
  await sweepJob(key, lock, { progress: progressOf(scan), wake, giveUp }, sweep);
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
