import * as z from "zod/mini";
import { newAlertConfig } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";

export const createAlertConfig = defineEndpoint({
  summary: "Create an alert channel",
  body: newAlertConfig,
  status: 201,
  reply: z.object({ id: idField }),
  refusals: ["channelLimitReached", "channelsOfDay"],
  limit: "alertConfigWrites",
  counted: "by handler",
  repeatable: true,
  // The admins and other channels get a notice.
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
