import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { listPasskeys } from "./endpoint.ts";

export const handler = serve(listPasskeys, async ({ org, actor }) => {
  const user = await users.get(org, actor.id);
  return { passkeys: user === undefined ? [] : users.passkeysOf(user) };
});
