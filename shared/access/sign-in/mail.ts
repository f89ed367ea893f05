/** The worker of mails with sign-in links. */
import { send as sendMail } from "../../aws/mail/mail.ts";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as links from "./link.ts";
import { invitationMessage, linkMessage } from "./message.ts";
import { isLate, type Mail } from "./request.ts";

const sendTimeoutSeconds = 10;

/**
 * Sends a mail and deletes its row; nothing is sent if nobody has the address, or it is too late. A mail can go
 * out twice, each with a link of its own. Throws when it could not be sent.
 */
export const deliver = async (mailId: string): Promise<void> => {
  const key = keys.signInMail(mailId);
  const mail = await table.get<Mail>(key);
  if (mail === undefined) return;
  const message = isLate(mail, new Date()) || !isMailSetUp() ? undefined : await compose(mail);
  if (message !== undefined) {
    const sent = await sendMail({ recipient: mail.email, ...message }, sendTimeoutSeconds * 1_000);
    if ("failure" in sent) throw new Error(`A mail with a sign-in link could not be sent: ${sent.failure}`);
  }
  await table.remove(key);
};

const compose = async (mail: Mail) => {
  const { kind, email, organizationId, userId, invitedBy } = mail;
  const bearer = {
    email,
    ...(organizationId !== undefined && { organizationId }),
    ...(userId !== undefined && { userId }),
  };
  const [membership] = await links.membershipsOf(bearer);
  if (membership === undefined) return undefined;
  const { token } = await links.create(bearer, links.lifetimes[kind]);
  const url = links.urlOf(process.env.DASHBOARD_URL ?? "", token);
  return kind === "link"
    ? linkMessage(url)
    : invitationMessage(url, { organizationName: membership.organization.name, invitedBy: invitedBy ?? "" });
};
