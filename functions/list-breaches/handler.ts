import { serve } from "../../shared/access/api/serve.ts";
import * as findings from "../../shared/findings/finding.ts";
import { listBreaches } from "./endpoint.ts";

export const handler = serve(listBreaches, ({ org, query }) => findings.list(org, query));
