import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import { addEmail } from "./endpoint.ts";

export const handler = serve(addEmail, async ({ org, actor, body, count }) => ({
  success: true,
  id: await emails.add(org, body, actor, count),
}));
