import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, idField } from "../../shared/contract/page.ts";

export const testAlertConfig = defineEndpoint({
  summary: "Send a test event to an alert channel",
  description:
    "A channel that wants new breaches gets an example of a message about them, which says that " +
    "it is a test: in the subject, and for webhooks in the titles of the breaches. Other " +
    "channels get a `scan_error` that says so.",
  access: "user",
  path: byId,
  status: 202,
  reply: z.object({ success: z.boolean(), deliveryId: idField }),
  refusals: ["channelNotFound", "channelDisabled"],
  limit: "alertTests",
  uses: ["table:read", "table:write", "queue:deliveries"],
});
