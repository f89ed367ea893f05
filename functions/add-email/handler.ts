import { serve } from "../../shared/api/serve.ts";
import * as emails from "../../shared/emails/email.ts";
import { addEmail } from "./endpoint.ts";

export const handler = serve(addEmail, async ({ org, actor, body, count }) => ({
  success: true,
  id: await emails.add(org, body, actor, count),
}));
