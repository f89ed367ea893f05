import { serve } from "../../shared/access/api/serve.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { endSession } from "./endpoint.ts";

export const handler = serve(endSession, async ({ org, actor, session }) => {
  await sessions.end(org, actor.id, session.hash);
  return { success: true };
});
