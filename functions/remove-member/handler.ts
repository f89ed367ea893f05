import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { removeMember } from "./endpoint.ts";

export const handler = serve(removeMember, async ({ org, actor, path }) => {
  if ((await users.remove(org, path.id, { log: actor })) === "unknown") throw new Refusal("memberNotFound");
});
