import { serve } from "../../shared/access/api/serve.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { revokeOtherSessions } from "./endpoint.ts";

export const handler = serve(revokeOtherSessions, ({ org, actor, session }) =>
  sessions.revokeAllOf(org, actor.id, session.id),
);
