import { serve } from "../../shared/access/api/serve.ts";
import * as breachTriage from "../../shared/findings/breach-triage.ts";
import { listComments } from "./endpoint.ts";

export const handler = serve(listComments, ({ org, path, query }) =>
  breachTriage.comments(org, path.id, query),
);
