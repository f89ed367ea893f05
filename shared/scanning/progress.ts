import type { Domain } from "../monitoring/domains/domain-row.ts";
import { chunksLeft } from "./email-chunks.ts";
import type { ScanRecord, ScanRow } from "./record.ts";

/** Whether everything that a scan planned is done. */
export const isDone = (scan: Pick<ScanRow, "planned" | "remaining">): boolean =>
  scan.planned && chunksLeft(scan).length === 0;

/**
 * Whether this scan has nothing left to plan for a domain. That includes domains of a scan with a higher id,
 * which can hold the lock first, because ids are reserved before the lock is taken.
 */
export const isPlanned = (domain: Domain, scanId: number): boolean =>
  domain.plannedByScan > scanId ||
  (domain.plannedByScan === scanId && domain.planState !== undefined && domain.planState !== "fetching");

/**
 * Whether a scan, as it was read, holds the batch of a domain that it planned. It does not if the batch was
 * saved after the scan and before the domain was read.
 */
export const holdsBatchOf = (scan: ScanRecord, { plannedByScan, planBatch = 0 }: Domain): boolean =>
  plannedByScan !== scan.id || scan.remaining[planBatch] !== undefined;
