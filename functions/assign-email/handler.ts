import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import { assignEmail } from "./endpoint.ts";

export const handler = serve(assignEmail, async ({ org, actor, path, body }) => {
  await emails.assign(org, path.id, body, actor);
  return { success: true };
});
