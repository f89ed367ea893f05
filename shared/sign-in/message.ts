/** What mails with sign-in links say. */
import { escaped, senderName } from "../mail/mail.ts";

export type Message = { subject: string; text: string; html: string };

type Content = { subject: string; lead: string; button: string; url: string; notes: string[] };

/** The mail that somebody asked for with the address. */
export const linkMessage = (url: string): Message =>
  render({
    subject: `Sign in to ${senderName}`,
    lead: `Somebody, probably you, asked for a link to sign in to ${senderName} with this address.`,
    button: "Sign in",
    url,
    notes: [
      "The link works once, for 15 minutes.",
      "If it was not you, do nothing: without the link nobody can sign in.",
    ],
  });

/** The mail to a new user. */
export const invitationMessage = (
  url: string,
  { organizationName, invitedBy }: { organizationName: string; invitedBy: string },
): Message =>
  render({
    subject: `You are invited to ${organizationName} on ${senderName}`,
    lead: `${invitedBy} invites you to ${organizationName}, whose e-mail addresses ${senderName} looks for in known data breaches.`,
    button: "Sign in",
    url,
    notes: [
      "The link works once, for 7 days. After that, ask for a new one on the page that it opens.",
      "If you do not know who this is, do nothing.",
    ],
  });

const render = ({ subject, lead, button, url, notes }: Content): Message => ({
  subject,
  text: [lead, `${button}:\n${url}`, ...notes, `-- \n${senderName}\n`].join("\n\n"),
  html: [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta name="viewport" content="width=device-width">\n<title>${escaped(subject)}</title>\n</head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">',
    `<p>${escaped(lead)}</p>`,
    `<p><a href="${escaped(url)}" style="font-weight: bold">${escaped(button)}</a></p>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    `<hr>\n<p style="font-size: 0.85em">${senderName}</p>\n</body>\n</html>\n`,
  ].join("\n"),
});
