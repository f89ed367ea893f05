import { serve } from "../../shared/access/api/serve.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { revokeOtherSessions } from "./endpoint.ts";

export const handler = serve(revokeOtherSessions, async ({ org, actor, session }) => {
  await sessions.revokeAllOf(org, actor.id, session.id);
  return { success: true };
});
