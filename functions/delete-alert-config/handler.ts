import { Logger } from "@aws-lambda-powertools/logger";
import { removeWithHistory } from "../../shared/alerts/history.ts";
import { serve } from "../../shared/api/serve.ts";
import { deleteAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  await removeWithHistory(org, path.id, actor, logger);
  return { ok: true };
});
