import { serve } from "../../shared/access/api/serve.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import * as confirmation from "../../shared/alerting/channels/confirmation.ts";
import { createAlertConfig } from "./endpoint.ts";

export const handler = serve(createAlertConfig, async ({ org, actor, body, count, repeat, logger }) => {
  const id = await configure.create(org, body, actor, count, (created) => repeat.remember({ id: created }));
  if (body.channel === "email") await confirmation.ask(org, id, logger);
  const secret = body.channel === "webhook" ? body.config.secret : undefined;
  configure.warnOfShortSecret(logger, { organizationId: org, channelId: id }, secret);
  return { id };
});
