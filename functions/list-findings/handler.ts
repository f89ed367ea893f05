import { serve } from "../../shared/access/api/serve.ts";
import * as findings from "../../shared/findings/owned.ts";
import { listFindings } from "./endpoint.ts";

export const handler = serve(listFindings, ({ org, query }) => findings.list(org, query));
