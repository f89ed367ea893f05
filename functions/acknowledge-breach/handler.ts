import { serve } from "../../shared/access/api/serve.ts";
import * as findings from "../../shared/findings/finding.ts";
import { acknowledgeBreach } from "./endpoint.ts";

export const handler = serve(acknowledgeBreach, ({ org, actor, body }) =>
  findings.acknowledge(org, body, actor),
);
