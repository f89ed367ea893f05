/** The worker of mails with sign-in links. */
import { defaultMailBudget, giveBackCopies, takeCopies } from "../../aws/mail/budget.ts";
import { send as sendMail } from "../../aws/mail/mail.ts";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as links from "./link.ts";
import { invitationMessage, linkMessage } from "./message.ts";
import { isLate, type Mail, putOff } from "./request.ts";

const sendTimeoutSeconds = 10;

/**
 * Sends a mail and deletes its row; nothing is sent if nobody has the address, or it is too late. A mail can go
 * out twice, each with a link of its own. An invitation is a copy out of the organization's budget of mails: over it, the
 * sweep tries again once the hour or day is over. Throws when it could not be sent.
 */
export const deliver = async (mailId: string): Promise<void> => {
  const key = keys.signInMail(mailId);
  const mail = await table.get<Mail>(key);
  if (mail === undefined) return;
  const now = new Date();
  const bearer = bearerOf(mail);
  const memberships = isLate(mail, now) || !isMailSetUp() ? [] : await links.membershipsOf(bearer);
  // To an organization that needs more than an address a link would lead nobody, but an invitation tells of it.
  const [membership] =
    mail.kind === "link" ? memberships.filter((each) => !links.needsVoucher(each)) : memberships;
  if (membership === undefined) return table.remove(key);
  const { id: org, mailBudget = defaultMailBudget } = membership.organization;
  const copies = mail.kind === "invitation" ? 1 : 0;
  const budgetEndsAt = await takeCopies(org, copies, mailBudget, now);
  if (budgetEndsAt !== undefined) {
    await putOff(key, mail, budgetEndsAt);
    return;
  }
  const message = await compose(mail, bearer, membership);
  const sent = await sendMail({ recipient: mail.email, ...message }, sendTimeoutSeconds * 1_000);
  if ("failure" in sent) {
    await giveBackCopies(org, copies, now);
    throw new Error(`A mail with a sign-in link could not be sent: ${sent.failure}`);
  }
  await table.remove(key);
};

const bearerOf = ({ email, organizationId, userId }: Mail): links.Bearer => ({
  email,
  ...(organizationId !== undefined && { organizationId }),
  ...(userId !== undefined && { userId }),
});

const compose = async (
  { kind, invitedBy = "" }: Mail,
  bearer: links.Bearer,
  membership: links.Membership,
) => {
  const { name: organizationName } = membership.organization;
  if (kind === "invitation" && links.needsVoucher(membership)) {
    return invitationMessage(`${process.env.DASHBOARD_URL}/`, {
      organizationName,
      invitedBy,
      hasToken: false,
    });
  }
  const { token } = await links.create(bearer, links.lifetimes[kind]);
  const url = links.urlOf(process.env.DASHBOARD_URL ?? "", token);
  return kind === "link"
    ? linkMessage(url)
    : invitationMessage(url, { organizationName, invitedBy, hasToken: true });
};
