import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const planScan = defineQueueWorker({
  queue: "scan-plans",
  impact: "Scans stay pending: nobody learns of new breaches until this works again",
  // An organization has one scan at a time, and schedules and the catalog spread theirs over time.
  timeoutSeconds: 300,
  recursive: true,
  memoryMegabytes: 1024,
  uses: [
    "table:read",
    "table:write",
    "table:write:domains",
    "queue:scan-plans",
    "queue:scan-checks",
    "queue:scan-lookups",
    "queue:outbox",
    "hibp",
  ],
});
