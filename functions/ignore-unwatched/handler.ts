import { serve } from "../../shared/access/api/serve.ts";
import * as unwatched from "../../shared/monitoring/unwatched/change.ts";
import { ignoreUnwatched } from "./endpoint.ts";

export const handler = serve(ignoreUnwatched, async ({ org, actor, body: { ids, filter, ignored } }) => ({
  success: true as const,
  ...(await unwatched.ignore(org, ids === undefined ? { filter: filter ?? {} } : { ids }, ignored, actor)),
}));
