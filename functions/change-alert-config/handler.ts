import { Logger } from "@aws-lambda-powertools/logger";
import * as configure from "../../shared/alerts/configure.ts";
import * as confirmation from "../../shared/alerts/confirmation.ts";
import { enqueueAlerts } from "../../shared/alerts/enqueue.ts";
import { warnOfShortSecret } from "../../shared/alerts/secret-length.ts";
import { serve } from "../../shared/api/serve.ts";
import { changeAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(changeAlertConfig, async ({ org, actor, path, body, count }) => {
  const messages = await configure.change(org, path.id, body, actor, count);
  await enqueueAlerts(org, messages, logger);
  await confirmation.ask(org, body.config?.recipients ?? [], logger);
  warnOfShortSecret(logger, { organizationId: org, channelId: path.id }, body.config?.secret);
  return { ok: true };
});
