import { serve } from "../../shared/access/api/serve.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import * as findings from "../../shared/findings/finding.ts";
import { listBreaches } from "./endpoint.ts";

export const handler = serve(listBreaches, ({ org, query }) =>
  query.include === undefined ? findings.list(org, query) : detailed.list(org, query),
);
