import { defineScheduledWorker } from "../../shared/contract/worker.ts";

export const redispatchAlerts = defineScheduledWorker({
  everyMinutes: 1,
  impact: "Alerts that failed, or whose message was lost, are not sent again",
  timeoutSeconds: 55,
  // After an outage it builds and parses thousands of requests, so more processor makes it faster.
  memoryMegabytes: 1024,
  uses: [
    "table:read",
    "table:write",
    "table:due-index",
    "queue:outbox",
    "queue:deliveries",
    "queue:delivery-retries",
  ],
});
