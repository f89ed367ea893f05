import * as log from "../../shared/access/activity/log.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { listActivity } from "./endpoint.ts";

export const handler = serve(listActivity, ({ org, query }) => log.list(org, query, new Date()));
