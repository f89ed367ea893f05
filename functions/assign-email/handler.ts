import { serve } from "../../shared/api/serve.ts";
import * as emails from "../../shared/emails/email.ts";
import { assignEmail } from "./endpoint.ts";

export const handler = serve(assignEmail, async ({ org, actor, path, body }) => {
  await emails.assign(org, path.id, body, actor);
  return { success: true };
});
