import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { scheduled } from "../../shared/aws/queue/consume.ts";

export const handler = scheduled((_, invocation) => redispatch(invocation));
