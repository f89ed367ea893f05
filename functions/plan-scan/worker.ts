import { defineQueueWorker } from "../../shared/queue/worker.ts";

export const planScan = defineQueueWorker({
  queue: "scan-plans",
  impact: "Scans stay pending: nobody learns of new breaches until this works again",
  maximumConcurrency: 10,
  timeoutSeconds: 300,
  recursive: true,
  memoryMegabytes: 1024,
  uses: [
    "table:read",
    "table:write",
    "queue:scan-plans",
    "queue:scan-chunks",
    "queue:scan-lookups",
    "queue:deliveries",
    "hibp",
  ],
});
