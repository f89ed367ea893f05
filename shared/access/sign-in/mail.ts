/** The worker of mails with links. */
import { send as sendMail } from "../../aws/mail/mail.ts";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as links from "./link.ts";
import { isLate } from "./mail-row.ts";
import { invitationMessage, linkMessage } from "./message.ts";
import type { Mail } from "./request.ts";

const sendTimeoutSeconds = 10;

/**
 * Sends a mail and deletes its row; nothing is sent if nobody has the address, or it is too late. A mail can
 * go out twice, each with a link of its own. Throws when it could not be sent.
 */
export const deliver = async (mailId: string): Promise<void> => {
  const key = keys.signInMail(mailId);
  const mail = await table.get<Mail>(key);
  if (mail === undefined) return;
  const now = new Date();
  const bearer = bearerOf(mail);
  const memberships = isLate(mail, now) || !isMailSetUp() ? [] : await links.membershipsOf(bearer);
  // A link alone does not open an organization that requires its identity provider. Invitations are sent all
  // the same, without a token.
  const [membership] =
    mail.kind === "link" ? memberships.filter((each) => !links.needsVoucher(each)) : memberships;
  if (membership === undefined) return table.remove(key);
  const message = await compose(mail, bearer, membership);
  const sent = await sendMail({ recipient: mail.email, ...message }, sendTimeoutSeconds * 1_000);
  if ("failure" in sent) throw new Error(`A mail about signing in could not be sent: ${sent.failure}`);
  await table.remove(key);
};

const bearerOf = ({ email, organizationId, userId }: links.Bearer): links.Bearer => ({
  email,
  ...(organizationId !== undefined && { organizationId }),
  ...(userId !== undefined && { userId }),
});

const compose = async (mail: Mail, bearer: links.Bearer, membership: links.Membership) => {
  const { name: organizationName } = membership.organization;
  const dashboard = process.env.DASHBOARD_URL ?? "";
  const newLink = async (kind: keyof typeof links.lifetimes): Promise<string> => {
    const link = { ...bearer, ...(kind === "invitation" && { isInvitation: true as const }) };
    return links.urlOf(dashboard, (await links.create(link, links.lifetimes[kind])).token);
  };
  switch (mail.kind) {
    case "link":
      return linkMessage(await newLink("link"));
    case "invitation": {
      const hasToken = !links.needsVoucher(membership);
      const url = hasToken ? await newLink("invitation") : `${dashboard}/`;
      return invitationMessage(url, { organizationName, invitedBy: mail.invitedBy, hasToken });
    }
  }
};
