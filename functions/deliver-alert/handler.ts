import { deliver, readSubjects } from "../../shared/alerting/attempts/deliver.ts";
import { consumeWithConcurrentPolling } from "../../shared/aws/queue/concurrent-polling.ts";
import { messageTimeoutSeconds } from "../../shared/contract/alert-timing.ts";

/** Handles deliver-alert and retry-alert: first attempts and retries are the same work from two queues. */
export const handler = consumeWithConcurrentPolling(
  "deliveries",
  { messageTimeoutSeconds },
  {
    read: readSubjects,
    handle: (message, subject, invocation) =>
      deliver(message, subject, invocation, {
        redispatchSeconds: Number(process.env.REDISPATCH_INTERVAL_SECONDS),
        waitingSeconds: Number(process.env.WAITING_INTERVAL_SECONDS),
        longestWaitSeconds: Number(process.env.LONGEST_WAIT_INTERVAL_SECONDS),
        dashboardUrl: process.env.DASHBOARD_URL ?? "",
      }),
  },
);
