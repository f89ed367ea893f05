import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { changeMember } from "./endpoint.ts";

export const handler = serve(changeMember, async ({ org, actor, path, body: { hasIdentity, ...change } }) => {
  await users.change(org, path.id, change, actor);
  if (hasIdentity === false) await users.forgetIdentity(org, path.id, actor);
});
