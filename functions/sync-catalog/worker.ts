import { defineScheduledWorker } from "../../shared/contract/worker.ts";

export const syncCatalog = defineScheduledWorker({
  everyMinutes: 15,
  impact:
    "New breaches and changed breach details are not noticed; the API key of Have I Been Pwned may be missing or wrong",
  timeoutSeconds: 120,
  memoryMegabytes: 512,
  // The scans that a change of the catalog causes spread over this time.
  intervals: { STAGGER_INTERVAL_SECONDS: 3600 },
  uses: ["table:read", "table:write", "hibp"],
});
