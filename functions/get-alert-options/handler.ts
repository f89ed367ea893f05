import { serve } from "../../shared/access/api/serve.ts";
import { getOptions } from "../../shared/alerting/channels/options.ts";
import { getAlertOptions } from "./endpoint.ts";

export const handler = serve(getAlertOptions, ({ org, path }) => getOptions(org, path.id));
