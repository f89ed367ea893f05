import { serve } from "../../shared/access/api/serve.ts";
import { ask } from "../../shared/alerting/channels/ask-recipients.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { changeAlertConfig } from "./endpoint.ts";

export const handler = serve(changeAlertConfig, async ({ org, actor, path, body, count, logger }) => {
  await configure.change(org, path.id, body, actor, count);
  if (body.config?.recipients !== undefined) await ask(org, path.id, logger);
  configure.warnOfShortSecret(logger, { organizationId: org, channelId: path.id }, body.config?.secret);
  return { ok: true };
});
