/** E-mails whose point is one link. */
import { escaped, senderName } from "./mail.ts";

export type LinkMessage = { subject: string; text: string; html: string };

/** `button` is what the link says, and each of `notes` a paragraph behind it. */
type Content = { subject: string; lead: string; button: string; url: string; notes: readonly string[] };

/** The message as text and as HTML. */
export const linkMessage = ({ subject, lead, button, url, notes }: Content): LinkMessage => ({
  subject,
  text: [lead, `${button}:\n${url}`, ...notes, `-- \n${senderName}\n`].join("\n\n"),
  html: [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta name="viewport" content="width=device-width">\n<title>${escaped(subject)}</title>\n</head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">',
    `<p>${escaped(lead)}</p>`,
    `<p><a href="${escaped(url)}" style="font-weight: bold">${escaped(button)}</a></p>`,
    // Programs that check links rewrite the one above, and some of them lose what is behind its "#".
    `<p>If that does not work, copy this link into the address bar of your browser:<br>`,
    `<code style="overflow-wrap: anywhere">${escaped(url)}</code></p>`,
    ...notes.map((note) => `<p>${escaped(note)}</p>`),
    `<hr>\n<p style="font-size: 0.85em">${senderName}</p>\n</body>\n</html>\n`,
  ].join("\n"),
});
