import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import * as users from "../../shared/access/members/user.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { removeMember } from "./endpoint.ts";

export const handler = serve(removeMember, async ({ org, actor, path: { id }, query }) => {
  if ((await users.remove(org, id, { log: actor })) === "unknown") throw new Refusal("memberNotFound");
  if (query.revokeKeys) await apiKeys.revokeMadeBy(org, id, actor);
});
