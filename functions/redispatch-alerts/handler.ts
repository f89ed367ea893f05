import { redispatchDue } from "../../shared/alerts/redispatch.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";

export const handler = scheduled((_, invocation) => redispatchDue(invocation));
