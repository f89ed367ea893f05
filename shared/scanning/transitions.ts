/**
 * The states of a scan. Each function gives the writes of one transition, for the transaction of its caller:
 *
 * | From | To | Condition | Caller |
 * |---|---|---|---|
 * | – | pending | the organization has no scan lock | start.ts |
 * | pending | running | none: whichever planner is first | plan.ts, with the current fencing token |
 * | pending | failed | the scan holds the lock | start.ts, when SQS did not take the message of a manual scan |
 * | pending, running | completed, failed | holds the lock as read, and no work was planned or finished since | end.ts |
 *
 * Every transition has the condition that the scan is in its state. Nothing leads out of completed and failed.
 */

import { absent, condition, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import type { Reserved } from "../lists/blocks.ts";
import type { FinalCounts } from "./final-counts.ts";
import { heldBy, newLock } from "./lock.ts";
import { type ScanRecord, type ScanRow, scans } from "./record.ts";
import type { ScanType } from "./scan-schema.ts";

/** Starts a scan, which takes the lock. Refuses `scanInProgress`. */
export const starting = (
  org: number,
  reserved: Reserved,
  type: ScanType,
  begun: Pick<ScanRow, "totalEmails" | "skippedEmails" | "isFirst">,
): Write[] => {
  const { id, createdAt } = reserved;
  const scan = scans.put(
    org,
    reserved,
    { type, status: "pending" },
    {
      startedAt: null,
      completedAt: null,
      errorMessage: null,
      findingsItemized: false,
      ...begun,
      scannedEmails: 0,
      failedEmails: 0,
      newBreachesFound: 0,
      planned: false,
      remaining: {},
    },
  );
  return [
    { put: { ...keys.scanLock(org), ...newLock(org, id, createdAt) }, if: absent, refusal: "scanInProgress" },
    ...scans.writes(org, [scan]),
  ];
};

export const running = (org: number, scan: ScanRecord): Write[] => {
  const from = { ...scans.groupOf(scan), status: "pending" } as const;
  const startedAt = new Date().toISOString();
  return scans.writes(org, [
    scans.change(org, scan.id, { from, to: { ...from, status: "running" }, set: { startedAt } }),
  ]);
};

/** Ends a manual scan that nobody will plan, because it could not be queued. */
export const notQueued = (
  org: number,
  id: number,
  totalEmails: number,
  set: { errorMessage: string; completedAt: string },
): Write[] => [
  { delete: keys.scanLock(org), if: heldBy({ scanId: id }) },
  ...scans.writes(org, [
    scans.change(org, id, {
      from: { type: "manual", status: "pending" },
      to: { type: "manual", status: "failed" },
      set: { ...set, failedEmails: totalEmails, unreachedEmails: totalEmails },
    }),
  ]),
];

/**
 * Ends a scan. The first write fails when the scan has lost the lock: it is over, or its organization is
 * being deleted.
 */
export const ending = (
  org: number,
  scan: ScanRecord,
  result: {
    status: "completed" | "failed";
    counts: FinalCounts;
    outcomes: Record<string, number[]>;
    errorMessage: string | null;
    completedAt: string;
  },
): Write[] => {
  const { status, counts, outcomes, errorMessage, completedAt } = result;
  const from = scans.groupOf(scan);
  return [
    { delete: keys.scanLock(org), if: heldBy({ scanId: scan.id }) },
    ...scans.writes(org, [
      scans.change(org, scan.id, {
        from,
        to: { ...from, status },
        set: {
          completedAt,
          totalEmails: counts.totalEmails,
          failedEmails: counts.failedCount,
          unreachedEmails: counts.unreachedCount,
          skippedEmails: counts.skippedCount,
          newBreachesFound: counts.newBreachCount,
          findingsItemized: counts.scannedCount > 0,
          outcomes,
          oldestUnreached: counts.oldestUnreached,
          errorMessage,
          remaining: {},
        },
        // The counts written here would miss work that was planned or finished since the row was read.
        if: condition("#remaining = :remaining AND #scannedEmails = :scanned AND #failedEmails = :failed", {
          remaining: scan.remaining,
          scanned: scan.scannedEmails,
          failed: scan.failedEmails,
        }),
      }),
    ]),
  ];
};
