import { attempt } from "../../shared/alerts/deliver.ts";
import { consumeMeanwhile } from "../../shared/queue/meanwhile.ts";

/** An attempt waits 10 s at most; the rest is the table's. */
const longestSeconds = 14;

/** First attempts and retries: the same work in two lanes. */
export const handler = consumeMeanwhile("deliveries", { longestSeconds }, (message, invocation) =>
  attempt(message, invocation, {
    redispatchSeconds: Number(process.env.REDISPATCH_INTERVAL_SECONDS),
    waitingSeconds: Number(process.env.WAITING_INTERVAL_SECONDS),
    longestWaitSeconds: Number(process.env.LONGEST_WAIT_INTERVAL_SECONDS),
  }),
);
