import { serve } from "../../shared/access/api/serve.ts";
import { clearCookie } from "../../shared/access/api/session-cookie.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { endSession } from "./endpoint.ts";

export const handler = serve(endSession, async ({ org, actor, session, cookies }) => {
  await sessions.end(org, actor.id, session.hash);
  cookies.push(clearCookie());
});
