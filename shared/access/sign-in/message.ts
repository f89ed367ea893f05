/** What mails with links say. */
import { type LinkMessage, linkMessage as render } from "../../aws/mail/link-message.ts";
import { senderName } from "../../aws/mail/mail.ts";
import { quoted } from "../../aws/mail/quoted.ts";

/** The mail that somebody asked for with the address. */
export const linkMessage = (url: string): LinkMessage =>
  render({
    subject: `Sign in to ${senderName}`,
    lead: `Somebody, probably you, asked for a link to sign in to ${senderName} with this address.`,
    label: "Sign in",
    url,
    notes: [
      "The link works once, for 15 minutes.",
      "If it was not you, ignore this e-mail: only somebody who has the link can use it.",
    ],
  });

/** The mail to a new user. If its url has no token, it leads to the page for signing in. */
export const invitationMessage = (
  url: string,
  {
    organizationName,
    invitedBy,
    hasToken,
  }: { organizationName: string; invitedBy: string; hasToken: boolean },
): LinkMessage =>
  render({
    subject: `${invitedBy} invites you to ${quoted(organizationName)} on ${senderName}`,
    lead:
      `${invitedBy} invites you to ${quoted(organizationName)}. ${senderName} looks for the ` +
      "organization's e-mail addresses in known data breaches.",
    label: "Accept invitation",
    url,
    notes: [
      hasToken
        ? "The link works once, for 7 days. After that, ask for a new one on the page that it opens."
        : "Sign in there with the account of your organization.",
      "If you do not know who this is, ignore this e-mail.",
    ],
  });
