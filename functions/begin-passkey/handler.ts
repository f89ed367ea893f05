import { ownOrigin } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as options from "../../shared/access/sign-in/passkey-options.ts";
import { beginPasskey } from "./endpoint.ts";

export const handler = serve(beginPasskey, async ({ org, actor, session, event }) => ({
  options: await options.toAdd(org, actor.id, session.hash, ownOrigin(event)),
}));
