import { Logger } from "@aws-lambda-powertools/logger";
import { serve } from "../../shared/access/api/serve.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { enqueueAlerts } from "../../shared/alerting/deliveries/enqueue.ts";
import { deleteAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  await enqueueAlerts(org, await remove(org, path.id, actor), logger);
  return { ok: true };
});
