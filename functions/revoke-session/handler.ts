import { serve } from "../../shared/access/api/serve.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { revokeSession } from "./endpoint.ts";

export const handler = serve(revokeSession, async ({ org, actor, path }) => {
  if ((await sessions.revoke(org, path.id, actor.id)) === "unknown") throw new Refusal("sessionNotFound");
});
