import { serve } from "../../shared/access/api/serve.ts";
import * as breachTriage from "../../shared/findings/breach-triage.ts";
import { commentOnBreach } from "./endpoint.ts";

export const handler = serve(commentOnBreach, ({ org, actor, path, body }) =>
  breachTriage.comment(org, path.id, body.text, actor),
);
