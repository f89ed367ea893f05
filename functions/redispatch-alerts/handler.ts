import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { wakeDue } from "../../shared/alerting/outbox/work.ts";
import { scheduled } from "../../shared/aws/queue/consume.ts";

export const handler = scheduled(async (_, invocation) => {
  // An error of one does not keep the other from its work.
  const outcomes = await Promise.allSettled([redispatch(invocation), wakeDue(invocation)]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
});
