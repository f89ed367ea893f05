import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const followDirectories = defineQueueWorker({
  queue: "directory-changes",
  impact: "Joiners of connected directories are not watched, and the addresses of leavers stay enabled",
  timeoutSeconds: 120,
  batchSize: 10,
  recursive: true,
  uses: [
    "table:read",
    "table:write",
    "table:check:domains",
    "queue:directory-changes",
    "queue:acknowledgements",
  ],
});
