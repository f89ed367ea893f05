import { alertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const getAlertOptions = defineEndpoint({
  summary: "The options of an alert channel",
  path: byId,
  reply: alertOptions,
  refusals: ["channelNotFound"],
  uses: ["table:read"],
});
