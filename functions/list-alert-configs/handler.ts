import * as channels from "../../shared/alerts/channel.ts";
import { serve } from "../../shared/api/serve.ts";
import { listAlertConfigs } from "./endpoint.ts";

export const handler = serve(listAlertConfigs, async ({ org }) => ({
  configs: (await channels.list(org)).map((channel) => channels.shown(org, channel)),
}));
