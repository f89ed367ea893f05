import * as z from "zod/mini";
import { alertConfigPatch } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const changeAlertConfig = defineEndpoint({
  summary: "Change an alert channel",
  description:
    "A patch that changes nothing succeeds and is not logged. Each attempt of an open delivery " +
    "uses the channel's current settings.",
  path: byId,
  body: alertConfigPatch,
  reply: z.object({ ok: z.boolean() }),
  refusals: ["channelNotFound", "channelsOfDay"],
  limit: "alertConfigWrites",
  counted: "by handler",
  // Other channels and the admins get a notice of the change.
  uses: [
    "table:read",
    "table:write",
    "table:write:channels",
    "queue:outbox",
    "queue:sign-in-mails",
    "channel-key",
    "email-confirmation",
  ],
  timeoutSeconds: 15,
});
