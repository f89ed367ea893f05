import * as queue from "../../aws/queue/queue.ts";

/** Sends the message that wakes a worker for a request. If SQS does not take it, the next sweep sends it. */
export const wake = (org: number, acknowledgementId: number): Promise<void> =>
  queue.send("acknowledgements", { organizationId: org, acknowledgementId }, { group: String(org) });
