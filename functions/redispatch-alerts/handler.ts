import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { wakeDue } from "../../shared/alerting/outbox/work.ts";
import { scheduled } from "../../shared/aws/queue/consume.ts";

export const handler = scheduled(async (_, invocation) => {
  await wakeDue(invocation);
  await redispatch(invocation);
});
