import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const lookUpEmails = defineQueueWorker({
  queue: "scan-lookups",
  impact: "Scans of domains without domain search do not finish",
  maximumConcurrency: 2,
  timeoutSeconds: 60,
  recursive: true,
  uses: ["table:read", "table:write", "table:write:domains", "queue:scan-lookups", "queue:outbox", "hibp"],
});
