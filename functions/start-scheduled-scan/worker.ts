import { defineOnDemandWorker } from "../../shared/contract/worker.ts";

export const startScheduledScan = defineOnDemandWorker({
  scheduleGroup: "scheduled-scans",
  impact: "Scheduled scans do not start",
  maximumEventAgeHours: 1,
  timeoutSeconds: 30,
  uses: ["table:write"],
});
