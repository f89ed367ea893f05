import * as z from "zod/mini";
import { alertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const setAlertOptions = defineEndpoint({
  summary: "Replace the options of an alert channel",
  description:
    "The whole object: no field may be missing, and no other be there. Another `grouping` holds from the next scan on.",
  path: z.object({ id: idParameter("id") }),
  body: z.strictObject(alertOptions.shape),
  status: 200,
  reply: alertOptions,
  refusals: ["channelNotFound"],
  uses: ["table:read", "table:write", "table:write:channels"],
});
