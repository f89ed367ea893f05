import { defineScheduledWorker } from "../../shared/contract/worker.ts";

export const redispatchAlerts = defineScheduledWorker({
  everyMinutes: 1,
  impact: "Alerts that failed, or whose message was lost, are not sent again",
  timeoutSeconds: 55,
  // After an outage it makes and reads thousands of requests, which is work for a processor.
  memoryMegabytes: 1024,
  uses: ["table:read", "table:write", "table:due-index", "queue:deliveries", "queue:delivery-retries"],
});
