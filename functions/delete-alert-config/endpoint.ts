import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const deleteAlertConfig = defineEndpoint({
  summary: "Delete an alert channel with its delivery history",
  path: byId,
  reply: z.object({ ok: z.boolean() }),
  refusals: ["channelNotFound"],
  // Other channels and the admins get a notice of the change.
  uses: ["table:read", "table:write", "table:write:channels", "queue:outbox", "queue:sign-in-mails"],
});
