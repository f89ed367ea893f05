import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import * as users from "../../shared/access/members/user.ts";
import { newNoticesToAdmins } from "../../shared/access/notices/notice.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { removeMember } from "./endpoint.ts";

export const handler = serve(removeMember, async ({ org, actor, path: { id }, query }) => {
  const notices = await newNoticesToAdmins(org);
  const ifAdmins = ({ email }: users.User) =>
    notices.writes({ about: "admin", change: "removed", email, by: actor.label });
  if ((await users.remove(org, id, { log: actor, ifAdmins })) === "unknown")
    throw new Refusal("memberNotFound");
  await notices.send();
  if (query.revokeKeys) await apiKeys.revokeMadeBy(org, id, actor);
});
