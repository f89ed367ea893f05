import { defineScheduledWorker } from "../../shared/queue/worker.ts";

export const sweep = defineScheduledWorker({
  everyMinutes: 5,
  impact: "Interrupted scans, removals and deletions stay as they are",
  timeoutSeconds: 240,
  uses: [
    "table:read",
    "table:write",
    "table:due-index",
    "queue:scan-plans",
    "queue:scan-lookups",
    "queue:deliveries",
    "scheduler:delete",
  ],
});
