import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const raiseAlerts = defineQueueWorker({
  queue: "outbox",
  impact: "What happens makes no alerts: people learn of new breaches and problems from the dashboard alone",
  timeoutSeconds: 60,
  recursive: true,
  uses: ["table:read", "table:write", "queue:outbox", "queue:deliveries"],
  intervals: {
    // From the first finding of a running scan to the first message to channels that are told of scans.
    FIRST_MESSAGE_INTERVAL_SECONDS: 120,
  },
});
