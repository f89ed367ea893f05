import * as channels from "../../shared/alerts/channel.ts";
import { serve } from "../../shared/api/serve.ts";
import { createAlertConfig } from "./endpoint.ts";

export const handler = serve(createAlertConfig, async ({ org, actor, body, count }) => ({
  id: await channels.create(org, body, actor, count),
}));
