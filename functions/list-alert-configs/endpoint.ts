import * as z from "zod/mini";
import { alertConfig } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const listAlertConfigs = defineEndpoint({
  summary: "List alert channels, newest first, without their secrets",
  status: 200,
  reply: z.object({ configs: z.array(alertConfig) }),
  refusals: [],
  uses: ["table:read"],
});
