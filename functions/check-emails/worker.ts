import { defineQueueWorker } from "../../shared/queue/worker.ts";

export const checkEmails = defineQueueWorker({
  queue: "scan-chunks",
  impact: "Scans do not finish: new breaches are known upstream but not recorded or alerted",
  maximumConcurrency: 10,
  timeoutSeconds: 120,
  uses: ["table:read", "table:write", "queue:deliveries"],
});
