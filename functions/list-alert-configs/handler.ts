import { serve } from "../../shared/access/api/serve.ts";
import { inDetail } from "../../shared/alerting/attempts/delivery-list.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { listAlertConfigs } from "./endpoint.ts";

export const handler = serve(listAlertConfigs, async ({ org, query: { include } }) => ({
  configs:
    include === "details"
      ? await inDetail(org)
      : (await channels.list(org)).map((channel) => channels.shown(org, channel)),
}));
