import { consume } from "../../shared/aws/queue/consume.ts";
import { work } from "../../shared/findings/acknowledgements/work.ts";

export const handler = consume("acknowledgements", (message, invocation) =>
  work(message, invocation, { gatheringSeconds: Number(process.env.GATHERING_INTERVAL_SECONDS) }),
);
