import { serve } from "../../shared/access/api/serve.ts";
import * as unwatched from "../../shared/monitoring/unwatched/unwatched-list.ts";
import { listUnwatched } from "./endpoint.ts";

export const handler = serve(listUnwatched, ({ org, query }) => unwatched.list(org, query));
