import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import { changeEmail } from "./endpoint.ts";

export const handler = serve(changeEmail, ({ org, actor, path, body, count }) =>
  emails.setActive(org, path.id, body.isActive, actor, count),
);
