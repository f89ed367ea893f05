import { serve } from "../../shared/access/api/serve.ts";
import { assign } from "../../shared/monitoring/emails/changes.ts";
import { assignEmail } from "./endpoint.ts";

export const handler = serve(assignEmail, ({ org, actor, path, body }) => assign(org, path.id, body, actor));
