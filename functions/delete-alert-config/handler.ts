import { serve } from "../../shared/access/api/serve.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { enqueueAlerts } from "../../shared/alerting/deliveries/enqueue.ts";
import { deleteAlertConfig } from "./endpoint.ts";

export const handler = serve(deleteAlertConfig, async ({ org, actor, path, logger }) => {
  await enqueueAlerts(org, await remove(org, path.id, actor), logger);
  return { ok: true };
});
