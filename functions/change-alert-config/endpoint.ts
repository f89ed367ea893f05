import * as z from "zod/mini";
import { alertConfigPatch } from "../../shared/alerts/schema.ts";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { idParameter } from "../../shared/api/page.ts";

export const changeAlertConfig = defineEndpoint({
  summary: "Change an alert channel",
  description:
    "What changes nothing succeeds, and is not logged. Deliveries that are open use what the channel is at each attempt.",
  path: z.object({ id: idParameter("id") }),
  body: alertConfigPatch,
  status: 200,
  reply: z.object({ ok: z.boolean() }),
  refusals: ["channelNotFound"],
  limit: "alertConfigWrites",
  counted: "by handler",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 15,
});
