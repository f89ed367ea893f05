/** E-mails whose point is one link. */
import { button, buttonColor, htmlPage } from "./html.ts";
import { escaped, senderName } from "./mail.ts";

export type LinkMessage = { subject: string; text: string; html: string };

/** `label` is what the link says, and each of `notes` a paragraph behind it. */
type Content = { subject: string; lead: string; label: string; url: string; notes: readonly string[] };

/** The message as text and as HTML. */
export const linkMessage = ({ subject, lead, label, url, notes }: Content): LinkMessage => ({
  subject,
  text: [lead, `${label}:\n${url}`, ...notes, `-- \n${senderName}\n`].join("\n\n"),
  html: htmlPage({
    title: subject,
    headline: escaped(subject),
    rows: [escaped(lead), button({ label, url }), ...notes.map(escaped)],
    color: buttonColor,
    // Programs that check links rewrite the one above, and some lose all behind its "#".
    footer:
      "If the button does not work, copy this link into the address bar of your browser:<br>\n" +
      `${escaped(url)}<br>\n<br>\n${senderName}`,
  }),
});
