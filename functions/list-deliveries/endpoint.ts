import * as z from "zod/mini";
import { alertConfig, alertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import {
  deliveryStatus,
  listedDelivery,
  senderParameter,
} from "../../shared/alerting/deliveries/delivery-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listDeliveries = defineEndpoint({
  summary: "List the deliveries of an alert channel, newest first",
  description: "With the id `owners`: of the messages to owners of addresses.",
  access: "user",
  path: z.object({ id: senderParameter }),
  query: z.object({
    ...pageQuery,
    status: z.optional(deliveryStatus).check(z.meta({ description: "Only deliveries with this status" })),
  }),
  reply: z.object({
    channel: z
      .nullable(z.object({ ...alertConfig.shape, options: alertOptions }))
      .check(z.meta({ description: "Null for `owners`" })),
    deliveries: z.array(listedDelivery),
    total,
  }),
  refusals: ["channelNotFound"],
  uses: ["table:read"],
});
