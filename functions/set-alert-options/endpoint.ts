import * as z from "zod/mini";
import { alertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const setAlertOptions = defineEndpoint({
  summary: "Replace the options of an alert channel",
  description:
    "Send the whole object: every field, and no others. A changed `grouping` takes effect at the next scan.",
  path: byId,
  body: z.strictObject(alertOptions.shape),
  reply: alertOptions,
  refusals: ["channelNotFound"],
  // Other channels get a notice of less that is told.
  uses: ["table:read", "table:write", "table:write:channels", "queue:outbox"],
});
