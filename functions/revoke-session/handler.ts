import { serve } from "../../shared/access/api/serve.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { revokeSession } from "./endpoint.ts";

export const handler = serve(revokeSession, ({ org, actor, path }) =>
  sessions.revokeOwn(org, actor.id, path.id),
);
