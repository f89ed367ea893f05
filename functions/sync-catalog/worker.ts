import { defineScheduledWorker } from "../../shared/contract/worker.ts";

export const syncCatalog = defineScheduledWorker({
  everyMinutes: 1,
  impact:
    "New breaches and changed breach details are not noticed, and scans do not start by " +
    "themselves; the API key of Have I Been Pwned may be missing or wrong",
  timeoutSeconds: 120,
  memoryMegabytes: 512,
  intervals: {
    // Each run asks for the latest breach alone; a run asks for all of them when that one is new, or after this time.
    SYNC_INTERVAL_SECONDS: 900,
    // The scans that a change of the catalog causes spread over this time at most.
    STAGGER_INTERVAL_SECONDS: 3600,
  },
  uses: ["table:read", "table:write", "table:due-index", "queue:scan-plans", "hibp"],
});
