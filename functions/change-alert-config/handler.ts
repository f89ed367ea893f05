import { Logger } from "@aws-lambda-powertools/logger";
import * as configure from "../../shared/alerts/configure.ts";
import { warnOfShortSecret } from "../../shared/alerts/secret-length.ts";
import { serve } from "../../shared/api/serve.ts";
import { changeAlertConfig } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(changeAlertConfig, async ({ org, actor, path, body, count }) => {
  await configure.change(org, path.id, body, actor, count);
  warnOfShortSecret(logger, { organizationId: org, channelId: path.id }, body.config?.secret);
  return { ok: true };
});
