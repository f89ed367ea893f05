import { attempt } from "../../shared/alerts/deliver.ts";
import { consume } from "../../shared/queue/consume.ts";

/** First attempts and retries: the same work in two lanes. */
export const handler = consume("deliveries", (message, invocation) =>
  attempt(message, invocation, {
    redispatchSeconds: Number(process.env.REDISPATCH_INTERVAL_SECONDS),
    waitingSeconds: Number(process.env.WAITING_INTERVAL_SECONDS),
    longestWaitSeconds: Number(process.env.LONGEST_WAIT_INTERVAL_SECONDS),
  }),
);
