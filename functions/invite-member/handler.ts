import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { newNoticesToAdmins } from "../../shared/access/notices/notice.ts";
import { newInvitation } from "../../shared/access/sign-in/request.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { inviteMember } from "./endpoint.ts";

export const handler = serve(inviteMember, async ({ org, actor, body: { email, name = null, role } }) => {
  const { write: invitation, send } = newInvitation(org, actor.label);
  const notices = await newNoticesToAdmins(org);
  const also =
    role === "admin" ? notices.writes({ about: "admin", change: "added", email, by: actor.label }) : [];
  const user = await users.create(
    org,
    { email, name, role },
    { log: { actor, coming: "invited" }, invitation, also },
  );
  if (user === "exists") throw new Refusal("memberExists");
  await notices.send();
  return { ...users.shown(user), invitationSent: await send() };
});
