/** What mails about signing in say. */
import { type LinkMessage, linkMessage as render } from "../../aws/mail/link-message.ts";
import { senderName } from "../../aws/mail/mail.ts";
import type { Notice } from "./request.ts";

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
    subject: `${invitedBy} invites you to ${organizationName} on ${senderName}`,
    lead: `${invitedBy} invites you to ${organizationName}. ${senderName} looks for the organization's e-mail addresses in known data breaches.`,
    label: "Accept invitation",
    url,
    notes: [
      hasToken
        ? "The link works once, for 7 days. After that, ask for a new one on the page that it opens."
        : "Sign in there with the account of your organization.",
      "If you do not know who this is, ignore this e-mail.",
    ],
  });

/** The mail about a deed that its recipient may not know of. `dashboard`: the page's url. */
export const noticeMessage = (dashboard: string, organizationName: string, notice: Notice): LinkMessage => {
  const nothingToDo = "If you know about it, there is nothing to do.";
  switch (notice.about) {
    case "passkey":
      return passkeyMessage(`${dashboard}/settings/sessions`, organizationName, notice);
    case "api_key":
      return render({
        subject: `A new API key: ${organizationName} on ${senderName}`,
        lead: `${notice.by} created the API key "${notice.label}" of ${organizationName}. Whoever has it can use the whole API, without signing in.`,
        label: "API keys",
        url: `${dashboard}/settings/api-keys`,
        notes: [nothingToDo, "If not, revoke the key on that page, and remove whoever made it."],
      });
    case "admin":
      return render({
        subject: `A new admin: ${organizationName} on ${senderName}`,
        lead: `${notice.by} made ${notice.email} an admin of ${organizationName}. Admins manage its members, API keys and domains.`,
        label: "Members",
        url: `${dashboard}/settings/members`,
        notes: [nothingToDo, "If not, remove the new admin on that page, and whoever made them one."],
      });
  }
};

/** The mail about a passkey that was added or removed, perhaps by somebody else than its user. */
const passkeyMessage = (
  url: string,
  organizationName: string,
  { change, browser = "an unknown browser", createdAt }: Extract<Notice, { about: "passkey" }>,
): LinkMessage => {
  const added = `in ${browser} on ${createdAt.slice(0, 10)} at ${createdAt.slice(11, 16)} UTC`;
  return render({
    subject: `A passkey was ${change}: ${organizationName} on ${senderName}`,
    lead:
      change === "added"
        ? `A passkey was added to your account at ${organizationName} ${added}. Whoever has it can sign in as you, without a link.`
        : `The passkey that was added to your account at ${organizationName} ${added} was removed. Nobody can sign in with it any more.`,
    label: "Your passkeys and sessions",
    url,
    notes: [
      `If it was you${change === "removed" ? " or the operator" : ""}, there is nothing to do.`,
      `If not, somebody else has used your account: ${change === "added" ? "remove the passkey, " : ""}sign out everywhere else on that page, and tell an admin of ${organizationName}.`,
    ],
  });
};
