import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { newInvitation } from "../../shared/access/sign-in/request.ts";
import { resendInvitation } from "./endpoint.ts";

export const handler = serve(resendInvitation, async ({ org, actor, path }) => {
  const { write: invitation, send } = newInvitation(org, actor.label);
  const user = await users.inviteAgain(org, path.id, actor, invitation);
  return { ...users.shown(user), invitationSent: await send() };
});
