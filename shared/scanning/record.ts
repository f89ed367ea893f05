import type { UpstreamFailureKind } from "../hibp/hibp.ts";
import { countedList } from "../lists/counted-list.ts";
import type { ScanStatus, ScanType } from "./scan-schema.ts";

/** Why e-mails fail. "doubted": HIBP's answer lacks too much of what was known to be believed (compare-batch.ts). */
export type FailureKind = UpstreamFailureKind | "doubted";

export type Failures = Map<FailureKind, number>;

export const addFailures = (failures: Failures, kind: FailureKind, count: number): void => {
  if (count > 0) failures.set(kind, (failures.get(kind) ?? 0) + count);
};

export const failureCounts = (failures: Failures): Record<string, number> => ({
  failedEmails: [...failures.values()].reduce((sum, count) => sum + count, 0),
  ...Object.fromEntries([...failures].map(([kind, count]) => [`failed_${kind}`, count])),
});

/** A scan as stored. Its domains are planned in batches, whose work is cut into chunks (email-chunks.ts). */
export type ScanRow = {
  startedAt: string | null;
  completedAt: string | null;
  errorMessage: string | null;
  findingsItemized: boolean;
  totalEmails: number;
  scannedEmails: number;
  failedEmails: number;
  /** Of the failed ones, those that the scan did not reach: they keep an earlier result. Set at the end. */
  unreachedEmails?: number;
  /** Active e-mails on domains that are not verified, which no scan looks at. */
  skippedEmails: number;
  /** How the scan asked about its domains: the ids of the domains by `Outcome` (coverage.ts). Set at the end. */
  outcomes?: Record<string, number[]>;
  /**
   * The earliest of the last checks of those that were not reached; null if none was checked before. Set
   * at the end.
   */
  oldestUnreached?: string | null;
  newBreachesFound: number;
  /** No scan of the organization had completed when this one started. */
  isFirst: boolean;
  /** Whether every domain is planned: only then does an empty `remaining` mean that the scan is done. */
  planned: boolean;
  /**
   * The unfinished chunks: batch → chunk → e-mails still to check. The worker that empties it completes the
   * scan, exactly once. Each finished chunk rewrites the whole row, so it has to stay small.
   */
  remaining: Record<string, Record<string, number>>;
} & { [Kind in FailureKind as `failed_${Kind}`]?: number };

export type ScanGroup = { type: ScanType; status: ScanStatus };

export const scans = countedList<ScanGroup, ScanRow>("SCAN", { type: "word", status: "word" });

export type ScanRecord = NonNullable<Awaited<ReturnType<typeof scans.get>>>;
