import { Logger } from "@aws-lambda-powertools/logger";
import * as configure from "../../shared/alerts/configure.ts";
import * as confirmation from "../../shared/alerts/confirmation.ts";
import { warnOfShortSecret } from "../../shared/alerts/secret-length.ts";
import { serve } from "../../shared/api/serve.ts";
import { createAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(createAlertConfig, async ({ org, actor, body, count }) => {
  const id = await configure.create(org, body, actor, count);
  if (body.channel === "email") await confirmation.ask(org, body.config.recipients, logger);
  const secret = body.channel === "webhook" ? body.config.secret : undefined;
  warnOfShortSecret(logger, { organizationId: org, channelId: id }, secret);
  return { id };
});
