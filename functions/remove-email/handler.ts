import { serve } from "../../shared/api/serve.ts";
import * as emails from "../../shared/emails/email.ts";
import { removeEmail } from "./endpoint.ts";

export const handler = serve(removeEmail, async ({ org, actor, query }) => {
  await emails.remove(org, query.id, actor);
  return { success: true };
});
