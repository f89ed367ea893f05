/**
 * A notice as HTML that mail programs show alike: tables and inline styles, since Outlook and Gmail leave out much of CSS, at most 600 px wide.
 * The style sheet in the head is for dark mode alone, and nothing is lost where it is left out.
 */
import { escaped, senderName } from "../../aws/mail/mail.ts";
import { attribution, type Link, type Notice, severityColors } from "./notice.ts";

const dark = [
  ".page { background-color: #16181d !important }",
  ".card { background-color: #22252c !important }",
  ".text { color: #f1f3f5 !important }",
  ".quiet { color: #b4bac4 !important }",
  ".link { color: #8ab4ff !important }",
].join(" ");

const font = "font-family: Arial, Helvetica, sans-serif";
const table = 'role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0"';

export const htmlOf = (notice: Notice, unsubscribeUrl: string | undefined): string => {
  const { summary, headline, lead, facts, items, advice, link, organizationName, severity } = notice;
  const { source, license } = attribution;
  const color = severityColors[severity ?? "none"];
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">',
    `<title>${escaped(summary)}</title>\n<style>@media (prefers-color-scheme: dark) { ${dark} }</style>\n</head>`,
    '<body class="page" style="margin: 0; padding: 0; background-color: #f1f3f5">',
    `<table ${table} class="page" style="background-color: #f1f3f5"><tr><td align="center" style="padding: 24px 12px">`,
    '<table role="presentation" class="card" width="600" cellpadding="0" cellspacing="0" border="0"',
    `  style="width: 100%; max-width: 600px; background-color: #ffffff; border-top: 6px solid ${color}">`,
    row(`<h1 style="margin: 0; ${font}; font-size: 21px; line-height: 28px">${escaped(headline)}</h1>`, 24),
    row(escaped(lead)),
    ...(facts.length === 0 ? [] : [row(facts.map(factInHtml).join("<br>\n"))]),
    ...items.map((item) => row(itemInHtml(item))),
    ...(advice === undefined ? [] : [row(advice.split("\n").map(escaped).join("<br>\n"))]),
    ...(link === undefined ? [] : [row(button(link))]),
    `<tr><td class="quiet" style="padding: 24px; ${font}; font-size: 13px; line-height: 20px; color: #555b66">`,
    `${senderName} for ${escaped(organizationName)}<br>\nBreach data: ${linked(source)}, ${linked(license)}`,
    ...(unsubscribeUrl === undefined ? [] : [`<br>${linked({ label: "Unsubscribe", url: unsubscribeUrl })}`]),
    "</td></tr>\n</table>\n</td></tr></table>\n</body>\n</html>\n",
  ].join("\n");
};

const row = (content: string, above = 16): string =>
  `<tr><td class="text" style="padding: ${above}px 24px 0; ${font}; font-size: 16px; line-height: 24px; color: #1c1f24">${content}</td></tr>`;

const itemInHtml = ({ title, details, url }: Notice["items"][number]): string => {
  const name = url === undefined ? escaped(title) : linked({ label: title, url });
  return [`<strong>${name}</strong>`, ...details.map(escaped)].join("<br>\n");
};

/** `bdi` keeps a name that is written from right to left from reordering the text around it. */
const factInHtml = ({ label, value }: Notice["facts"][number]): string =>
  `${escaped(label)}: <bdi>${escaped(value)}</bdi>`;

/** A cell with a color of its own, because Outlook draws none behind a link. */
const button = ({ label, url }: Link): string =>
  '<table role="presentation" cellpadding="0" cellspacing="0" border="0"><tr><td bgcolor="#1d4ed8" style="border-radius: 6px">' +
  `<a href="${escaped(url)}" style="display: inline-block; padding: 12px 20px; ${font}; font-size: 16px; font-weight: bold; color: #ffffff; text-decoration: none">${escaped(label)}</a></td></tr></table>`;

const linked = ({ label, url }: Link): string =>
  `<a class="link" href="${escaped(url)}" style="color: #1d4ed8">${escaped(label)}</a>`;
