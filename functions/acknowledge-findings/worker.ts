import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const acknowledgeFindings = defineQueueWorker({
  queue: "acknowledgements",
  impact:
    "Requests to acknowledge or reopen many findings do not finish, their organizations can make " +
    "no others, and findings do not follow the severity of their breach",
  // An organization has one request at a time.
  timeoutSeconds: 300,
  // It mostly builds and parses requests of the table, so more processor makes it faster.
  memoryMegabytes: 1024,
  recursive: true,
  uses: ["table:read", "table:write", "table:breach-index", "queue:acknowledgements", "queue:outbox"],
});
