import { serve } from "../../shared/access/api/serve.ts";
import { ask } from "../../shared/alerting/channels/ask-recipients.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { kindOf } from "../../shared/alerting/kinds/kinds.ts";
import { createAlertConfig } from "./endpoint.ts";

export const handler = serve(createAlertConfig, async ({ org, actor, body, count, repeat, logger }) => {
  const id = await configure.create(org, body, actor, count, (created) => repeat.remember({ id: created }));
  const { recipientsOf, secretOf } = kindOf(body);
  if (recipientsOf !== undefined) await ask(org, id, logger);
  configure.warnOfShortSecret(logger, { organizationId: org, channelId: id }, secretOf?.(body.config));
  return { id };
});
