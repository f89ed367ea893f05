import { serve } from "../../shared/access/api/serve.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import { assignEmail } from "./endpoint.ts";

export const handler = serve(assignEmail, async ({ org, actor, path, body }) => {
  await assign(org, path.id, body, actor);
  return { success: true };
});
