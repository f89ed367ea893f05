/** What notices say. */
import { type LinkMessage, linkMessage as render } from "../../aws/mail/link-message.ts";
import { senderName } from "../../aws/mail/mail.ts";
import type { Notice } from "./notice.ts";

/** The mail about a deed that its recipient may not know of. `dashboard`: the page's url. */
export const noticeMessage = (dashboard: string, organizationName: string, notice: Notice): LinkMessage => {
  const nothingToDo = "If you know about it, there is nothing to do.";
  switch (notice.about) {
    case "passkey":
      return passkeyMessage(`${dashboard}/settings/sessions`, organizationName, notice);
    case "api_key":
      return render({
        subject: `A new API key: ${organizationName} on ${senderName}`,
        lead:
          `${notice.by} created the API key "${notice.label}" of ${organizationName}. Whoever has ` +
          (notice.access === "read" ? "it can read all findings and addresses" : "it can use the whole API") +
          `, without signing in${notice.expiresAt === null ? "" : `, until ${minuteOf(notice.expiresAt)}`}.`,
        label: "API keys",
        url: `${dashboard}/settings/api-keys`,
        notes: [nothingToDo, "If not, revoke the key on that page, and remove whoever made it."],
      });
    case "admin":
      return render({
        ...(notice.change === "added"
          ? {
              subject: `A new admin: ${organizationName} on ${senderName}`,
              lead:
                `${notice.by} made ${notice.email} an admin of ${organizationName}. Admins manage ` +
                "its members, API keys and domains.",
            }
          : {
              subject: `An admin less: ${organizationName} on ${senderName}`,
              lead: `${notice.email} is no longer an admin of ${organizationName}. This was done by ${notice.by}.`,
            }),
        label: "Members",
        url: `${dashboard}/settings/members`,
        notes: [nothingToDo, "If not, change that on that page, and remove whoever did it."],
      });
    case "channel":
      return render({
        subject: `Where alerts go: ${organizationName} on ${senderName}`,
        lead: `${notice.what} This was done by ${notice.by}.`,
        label: "Alert channels",
        url: `${dashboard}/alerts`,
        notes: [
          nothingToDo,
          "If not, change the channel on that page, and revoke the API key or remove the member that did it.",
        ],
      });
  }
};

/** Such as "2026-11-21 at 09:30 UTC". */
const minuteOf = (time: string): string => `${time.slice(0, 10)} at ${time.slice(11, 16)} UTC`;

/** The mail about a passkey that was added or removed, perhaps by somebody else than its user. */
const passkeyMessage = (
  url: string,
  organizationName: string,
  { change, browser = "an unknown browser", createdAt }: Extract<Notice, { about: "passkey" }>,
): LinkMessage => {
  const added = `in ${browser} on ${minuteOf(createdAt)}`;
  return render({
    subject: `A passkey was ${change}: ${organizationName} on ${senderName}`,
    lead:
      change === "added"
        ? `A passkey was added to your account at ${organizationName} ${added}. Whoever has it can ` +
          "sign in as you, without a link."
        : `The passkey that was added to your account at ${organizationName} ${added} was removed. ` +
          "Nobody can sign in with it any more.",
    label: "Your passkeys and sessions",
    url,
    notes: [
      `If it was you${change === "removed" ? " or the operator" : ""}, there is nothing to do.`,
      "If not, somebody else has used your account: " +
        `${change === "added" ? "remove the passkey, " : ""}sign out everywhere else on that page, ` +
        `and tell an admin of ${organizationName}.`,
    ],
  });
};
