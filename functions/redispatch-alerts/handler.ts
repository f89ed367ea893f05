import { redispatch } from "../../shared/alerts/redispatch.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";

export const handler = scheduled((_, invocation) => redispatch(invocation));
