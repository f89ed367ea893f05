import { deliveryTimeoutSeconds } from "../../shared/contract/alert-timing.ts";
import { defineQueueWorker } from "../../shared/contract/worker.ts";

const delivery = {
  timeoutSeconds: deliveryTimeoutSeconds,
  batchSize: 10,
  // A seventh of a core would take half a second for the TLS and signatures of a batch.
  memoryMegabytes: 1024,
  uses: [
    "table:read",
    "table:write",
    "table:write:channels",
    "queue:outbox",
    "queue:delivery-retries",
    "channel-key",
    "email",
  ],
  intervals: {
    REDISPATCH_INTERVAL_SECONDS: 3600,
    // While a channel is disabled, or an organization may not be served: pause between two checks, and when
    // to give up.
    WAITING_INTERVAL_SECONDS: 300,
    LONGEST_WAIT_INTERVAL_SECONDS: 24 * 3600,
  },
} as const;

/**
 * First attempts. Their own queue keeps failing receivers from holding up working ones. Receivers that do not
 * answer hold up nobody either, because an invocation polls for further messages while it waits.
 */
export const deliverAlert = defineQueueWorker({
  ...delivery,
  queue: "deliveries",
  impact: "Alerts go out late: their first attempt waits for the re-dispatch",
  maximumConcurrency: 50,
});

/** Second and third attempts of a dispatch, delayed by 1 s and 2 s; also re-dispatches. */
export const retryAlert = defineQueueWorker({
  ...delivery,
  queue: "delivery-retries",
  impact: "Alerts whose first attempt failed go out late: their retries wait for the re-dispatch",
  maximumConcurrency: 50,
  recursive: true,
});
