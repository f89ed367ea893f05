import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const checkEmails = defineQueueWorker({
  queue: "scan-checks",
  impact: "Scans do not finish: new breaches are known upstream but not recorded or alerted",
  maximumConcurrency: 10,
  timeoutSeconds: 120,
  uses: ["table:read", "table:write", "table:write:domains", "queue:outbox"],
});
