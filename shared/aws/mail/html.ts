/**
 * HTML that mail programs show alike: tables and inline styles, since Outlook and Gmail leave out much of
 * CSS, at most 600 px wide. The style sheet in the head is for dark mode alone, and nothing is lost where it
 * is left out.
 */
import { escaped } from "./mail.ts";

const dark = [
  ".page { background-color: #16181d !important }",
  ".card { background-color: #22252c !important }",
  ".text { color: #f1f3f5 !important }",
  ".quiet { color: #b4bac4 !important }",
  ".link { color: #8ab4ff !important }",
].join(" ");

const font = "font-family: Arial, Helvetica, sans-serif";
const table = 'role="presentation" cellpadding="0" cellspacing="0" border="0"';

/** Outlook draws with Word, which knows no `max-width`: a table that only it reads holds the card at 600 px. */
const forWord = {
  begin: `<!--[if mso]><table ${table} width="600" align="center"><tr><td><![endif]-->`,
  end: "<!--[if mso]></td></tr></table><![endif]-->",
};

/** Also the color of a message without another one. */
export const buttonColor = "#1d4ed8";

/** `title`: the subject; `headline`, `rows` and `footer` in HTML; `color`: of the edge above. */
export const htmlPage = ({
  title,
  headline,
  rows,
  footer,
  color,
}: {
  title: string;
  headline: string;
  rows: readonly string[];
  footer: string;
  color: string;
}): string =>
  [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">\n<meta name="color-scheme" content="light dark">',
    `<title>${escaped(title)}</title>\n<style>@media (prefers-color-scheme: dark) { ${dark} }</style>\n</head>`,
    '<body class="page" style="margin: 0; padding: 0; background-color: #f1f3f5">',
    `<table ${table} width="100%" class="page" style="background-color: #f1f3f5"><tr><td ` +
      `align="center" style="padding: 24px 12px">`,
    forWord.begin,
    `<table ${table} width="100%" class="card" style="max-width: 600px; background-color: ` +
      `#ffffff; border-top: 6px solid ${color}">`,
    row(`<h1 style="margin: 0; ${font}; font-size: 21px; line-height: 28px">${headline}</h1>`, 24),
    ...rows.map((content) => row(content)),
    `<tr><td class="quiet" style="padding: 24px; ${font}; font-size: 13px; line-height: 20px; ` +
      `color: #555b66; overflow-wrap: anywhere">${footer}</td></tr>`,
    "</table>",
    forWord.end,
    "</td></tr></table>\n</body>\n</html>\n",
  ].join("\n");

/**
 * Text without a place to break, such as a long address, breaks anywhere: nobody scrolls sideways on a phone.
 */
const row = (content: string, above = 16): string =>
  `<tr><td class="text" style="padding: ${above}px 24px 0; ${font}; font-size: 16px; ` +
  `line-height: 24px; color: #1c1f24; overflow-wrap: anywhere">${content}</td></tr>`;

export type Link = { label: string; url: string };

/** A cell with a color and a padding of its own, because Outlook draws none around a link. */
export const button = ({ label, url }: Link): string =>
  `<table ${table}><tr><td bgcolor="${buttonColor}" style="border-radius: 6px; mso-padding-alt: 12px 20px">` +
  `<a href="${escaped(url)}" style="display: inline-block; padding: 12px 20px; ${font}; ` +
  "font-size: 16px; font-weight: bold; color: #ffffff; text-decoration: " +
  `none">${escaped(label)}</a></td></tr></table>`;

export const linked = ({ label, url }: Link): string =>
  `<a class="link" href="${escaped(url)}" style="color: ${buttonColor}">${escaped(label)}</a>`;

/** Lines of text, one below the other. */
export const lines = (texts: readonly string[]): string => texts.map(escaped).join("<br>\n");
