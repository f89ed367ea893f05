import { Logger } from "@aws-lambda-powertools/logger";
import { serve } from "../../shared/access/api/serve.ts";
import { removeWithHistory } from "../../shared/alerting/deliveries/history.ts";
import { deleteAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  await removeWithHistory(org, path.id, actor, logger);
  return { ok: true };
});
