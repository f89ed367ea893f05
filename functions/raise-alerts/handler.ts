import { work } from "../../shared/alerting/outbox/work.ts";
import { consume } from "../../shared/aws/queue/consume.ts";

export const handler = consume("outbox", (message, invocation) =>
  work(message, invocation, { firstMessageSeconds: Number(process.env.FIRST_MESSAGE_INTERVAL_SECONDS) }),
);
