import * as z from "zod/mini";
import { alertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const getAlertOptions = defineEndpoint({
  summary: "The options of an alert channel",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: alertOptions,
  refusals: ["channelNotFound"],
  uses: ["table:read"],
});
