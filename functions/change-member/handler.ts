import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import * as users from "../../shared/access/members/user.ts";
import { newNoticesToAdmins } from "../../shared/access/notices/notice.ts";
import { changeMember } from "./endpoint.ts";

export const handler = serve(changeMember, async ({ org, actor, session, path: { id }, body }) => {
  const { hasIdentity, revokeKeys, ...change } = body;
  const notices = await newNoticesToAdmins(org);
  await users.change(org, id, change, actor, {
    keptSession: session.id,
    ifAdmins: ({ email }, change) => notices.writes({ about: "admin", change, email, by: actor.label }),
  });
  await notices.send();
  if (hasIdentity === false) await users.forgetIdentity(org, id, actor);
  if (revokeKeys) await apiKeys.revokeMadeBy(org, id, actor);
});
