import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { type Prepared, prepareInvitation } from "../../shared/access/sign-in/request.ts";
import { isMailSetUp } from "../../shared/aws/mail/setting.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { inviteMember } from "./endpoint.ts";

export const handler = serve(inviteMember, async ({ org, actor, body: { email, name = null, role } }) => {
  const mails: Prepared[] = [];
  const isInvited = isMailSetUp();
  const user = await users.create(
    org,
    { email, name, role },
    {
      log: actor,
      isInvited,
      also: (created) => {
        if (isInvited) mails.push(prepareInvitation(org, created, actor.label));
        return mails.map(({ write }) => write);
      },
    },
  );
  if (user === "exists") throw new Refusal("memberExists");
  for (const mail of mails) await mail.send();
  return { ...users.shown(user), invitationSent: isInvited };
});
