import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField, idParameter } from "../../shared/contract/page.ts";

export const redeliverAlert = defineEndpoint({
  summary: "Deliver an event again, whatever became of it",
  description: "The receiver gets the same event with the same id.",
  access: "user",
  path: z.object({ id: idParameter("id"), deliveryId: idParameter("deliveryId") }),
  status: 202,
  reply: z.object({ success: z.boolean(), deliveryId: idField }),
  refusals: ["channelNotFound", "deliveryNotFound", "channelDisabled", "deliveryInProgress"],
  limit: "alertTests",
  uses: ["table:read", "table:write", "queue:deliveries"],
});
