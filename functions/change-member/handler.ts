import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { changeMember } from "./endpoint.ts";

export const handler = serve(changeMember, async ({ org, actor, path, body }) => {
  await users.change(org, path.id, body, actor);
  return { success: true };
});
