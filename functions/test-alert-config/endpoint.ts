import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, idField } from "../../shared/contract/page.ts";

export const testAlertConfig = defineEndpoint({
  summary: "Send a test event to an alert channel",
  access: "user",
  path: byId,
  status: 202,
  reply: z.object({ success: z.boolean(), deliveryId: idField }),
  refusals: ["channelNotFound", "channelDisabled"],
  limit: "alertTests",
  uses: ["table:read", "table:write", "queue:deliveries"],
});
