import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import { addEmail } from "./endpoint.ts";

export const handler = serve(addEmail, async ({ org, actor, body, count, repeat }) => {
  const replyWith = (id: number) => ({ success: true, id });
  const id = await emails.add(org, body, actor, count, (added) => repeat.remember(replyWith(added)));
  return replyWith(id);
});
