import { raiseRisen } from "../../shared/alerting/gathering/risen.ts";
import { consume } from "../../shared/aws/queue/consume.ts";
import { work } from "../../shared/findings/acknowledgements/work.ts";

export const handler = consume("acknowledgements", (message, invocation) =>
  work(message, invocation, raiseRisen),
);
