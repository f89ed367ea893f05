import { serve } from "../../shared/access/api/serve.ts";
import * as unwatched from "../../shared/monitoring/unwatched/change.ts";
import { ignoreUnwatched } from "./endpoint.ts";

export const handler = serve(ignoreUnwatched, ({ org, actor, body: { ids, ignored } }) =>
  unwatched.ignore(org, ids, ignored, actor),
);
