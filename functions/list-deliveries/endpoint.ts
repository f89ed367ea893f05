import * as z from "zod/mini";
import { deliveryStatus, listedDelivery } from "../../shared/alerting/deliveries/delivery-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter, pageQuery, total } from "../../shared/contract/page.ts";

export const listDeliveries = defineEndpoint({
  summary: "List the deliveries of an alert channel, newest first",
  access: "user",
  path: z.object({ id: idParameter("id") }),
  query: z.object({
    ...pageQuery,
    status: z.optional(deliveryStatus).check(z.meta({ description: "Only deliveries with this status" })),
  }),
  status: 200,
  reply: z.object({ deliveries: z.array(listedDelivery), total }),
  refusals: ["channelNotFound"],
  uses: ["table:read"],
});
