import { serve } from "../../shared/access/api/serve.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { setAlertOptions } from "./endpoint.ts";

export const handler = serve(setAlertOptions, ({ org, actor, path, body }) =>
  setOptions(org, path.id, body, actor),
);
