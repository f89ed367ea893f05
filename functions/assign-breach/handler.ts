import { serve } from "../../shared/access/api/serve.ts";
import * as breachTriage from "../../shared/findings/breach-triage.ts";
import { assignBreach } from "./endpoint.ts";

export const handler = serve(assignBreach, async ({ org, actor, path, body }) => ({
  assignee: await breachTriage.assign(org, path.id, body, actor),
}));
