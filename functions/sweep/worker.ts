import { defineScheduledWorker } from "../../shared/queue/worker.ts";

export const sweep = defineScheduledWorker({
  everyMinutes: 5,
  impact: "Interrupted scans, removals and deletions stay as they are",
  timeoutSeconds: 240,
  intervals: {
    SILENCE_INTERVAL_SECONDS: 60,
    // Longer than any function that may still be at work for an organization can run.
    DELETION_INTERVAL_SECONDS: 900,
  },
  uses: ["table:read", "table:write", "table:due-index", "queue:scan-plans", "queue:deliveries"],
});
