import * as z from "zod/mini";
import { alertConfig, detailedAlertConfig } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const listAlertConfigs = defineEndpoint({
  summary: "List alert channels, newest first, without their secrets",
  query: z.object({
    include: z.optional(z.literal("details", "include must be details")).check(
      z.meta({
        description: "With the options of each channel, and whether its deliveries arrive",
        examples: ["details"],
      }),
    ),
  }),
  reply: z.object({ configs: z.array(z.union([detailedAlertConfig, alertConfig])) }),
  uses: ["table:read"],
});
