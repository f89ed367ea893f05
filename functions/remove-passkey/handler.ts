import { serve } from "../../shared/access/api/serve.ts";
import { remove } from "../../shared/access/sign-in/passkey-removal.ts";
import { removePasskey } from "./endpoint.ts";

export const handler = serve(removePasskey, async ({ org, actor, path }) => {
  await remove(org, actor.id, path.id, actor);
});
