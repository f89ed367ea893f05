import * as z from "zod/mini";
import { deliveryInFull, senderParameter } from "../../shared/alerting/deliveries/delivery-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const getDelivery = defineEndpoint({
  summary: "See a delivery of an alert channel with what it sent",
  description: "With the id `owners`: of a message to the owner of an address.",
  access: "user",
  path: z.object({ id: senderParameter, deliveryId: idParameter("deliveryId") }),
  reply: deliveryInFull,
  refusals: ["channelNotFound", "deliveryNotFound"],
  uses: ["table:read"],
  // The summary of a first scan is made again from its findings. 100,000 take a seventh of a core about 15
  // seconds.
  timeoutSeconds: 29,
});
