import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { type Prepared, prepareInvitation } from "../../shared/access/sign-in/request.ts";
import { isMailSetUp } from "../../shared/aws/mail/setting.ts";
import { resendInvitation } from "./endpoint.ts";

export const handler = serve(resendInvitation, async ({ org, actor, path }) => {
  /** Invitations of tries that were refused come first. */
  const mails: Prepared[] = [];
  const invitation = (user: users.User) => {
    const mail = prepareInvitation(org, user, actor.label);
    mails.push(mail);
    return mail.write;
  };
  const user = await users.inviteAgain(org, path.id, actor, isMailSetUp() ? invitation : undefined);
  await mails.at(-1)?.send();
  return { ...users.shown(user), invitationSent: mails.length > 0 };
});
