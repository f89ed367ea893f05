import { attempt } from "../../shared/alerts/deliver.ts";
import { consume } from "../../shared/queue/consume.ts";

/** First attempts and retries: the same work in two lanes. */
export const handler = consume("deliveries", (message, { logger }) =>
  attempt(message, { logger, redispatchSeconds: Number(process.env.REDISPATCH_INTERVAL_SECONDS) }),
);
