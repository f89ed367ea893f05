import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const acknowledgeFindings = defineQueueWorker({
  queue: "acknowledgements",
  impact:
    "Requests to acknowledge or reopen many findings do not finish, their organizations can make " +
    "no others, findings do not follow the severity of their breach, and rules end none",
  // An organization has one request at a time.
  timeoutSeconds: 300,
  // It mostly builds and parses requests of the table, so more processor makes it faster.
  memoryMegabytes: 1024,
  recursive: true,
  intervals: {
    // Less than the delay of the message that a change of facts sends (shared/findings/rules/marks.ts).
    GATHERING_INTERVAL_SECONDS: 8,
  },
  uses: ["table:read", "table:write", "table:breach-index", "queue:acknowledgements", "queue:outbox"],
});
