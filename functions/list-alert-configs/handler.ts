import { serve } from "../../shared/access/api/serve.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { listAlertConfigs } from "./endpoint.ts";

export const handler = serve(listAlertConfigs, async ({ org }) => ({
  configs: (await channels.list(org)).map((channel) => channels.shown(org, channel)),
}));
