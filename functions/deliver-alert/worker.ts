import { defineQueueWorker } from "../../shared/queue/worker.ts";

const delivery = {
  // Long enough to take other messages while an attempt waits; shorter than an attempt's lease.
  timeoutSeconds: 40,
  takesMeanwhile: true,
  uses: ["table:read", "table:write", "queue:delivery-retries", "email"],
  intervals: {
    REDISPATCH_INTERVAL_SECONDS: 3600,
    // Of deliveries whose channel is disabled or whose organization has lapsed: between two looks, and in all.
    WAITING_INTERVAL_SECONDS: 300,
    LONGEST_WAIT_INTERVAL_SECONDS: 24 * 3600,
  },
} as const;

/**
 * First attempts. They have their own lane, so that endpoints that fail cannot hold up those that work; those that do not
 * answer take up no room, since the worker goes on with other messages meanwhile.
 */
export const deliverAlert = defineQueueWorker({
  ...delivery,
  queue: "deliveries",
  impact: "Alerts go out late: their first attempt waits for the re-dispatch",
  maximumConcurrency: 50,
});

/** Second and third attempts of a dispatch, a delay queue: about 1 s, then about 2 s. */
export const retryAlert = defineQueueWorker({
  ...delivery,
  queue: "delivery-retries",
  impact: "Alerts whose first attempt failed go out late: their retries wait for the re-dispatch",
  maximumConcurrency: 50,
  recursive: true,
});
