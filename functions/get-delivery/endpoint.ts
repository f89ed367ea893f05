import * as z from "zod/mini";
import { deliveryInFull } from "../../shared/alerting/deliveries/delivery-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const getDelivery = defineEndpoint({
  summary: "See a delivery of an alert channel with what it sent",
  access: "user",
  path: z.object({ id: idParameter("id"), deliveryId: idParameter("deliveryId") }),
  status: 200,
  reply: deliveryInFull,
  refusals: ["channelNotFound", "deliveryNotFound"],
  uses: ["table:read", "dashboard-url"],
});
