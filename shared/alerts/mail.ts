/** Alerts as e-mail. */
import { sendTimeoutSeconds } from "../contract/alert-timing.ts";
import { escaped, senderName, send as sendMail } from "../mail/mail.ts";
import { attribution, type Link, type Notice } from "./notice.ts";
import type { AttemptResult } from "./outbound.ts";

/**
 * Sends a notice to at most 20 addresses without disclosing any of them to another. Without any, nothing is
 * left to send, and it is done. Never throws; a `failure` never contains an address.
 */
export const send = async (
  recipients: readonly string[],
  deliveryId: number,
  notice: Notice,
): Promise<AttemptResult> => {
  if (recipients.length === 0) return { status: 200 };
  // Equal in every attempt, so that recipients can recognize a message that came twice.
  const headers = [{ Name: "X-Delivery-Id", Value: String(deliveryId) }];
  return sendMail({ recipients, ...messageOf(notice), headers }, sendTimeoutSeconds);
};

/** A notice as an e-mail: the subject, and the same content as text and as HTML. */
export const messageOf = (notice: Notice): { subject: string; text: string; html: string } => ({
  subject: notice.summary,
  text: textOf(notice),
  html: htmlOf(notice),
});

const textOf = ({ headline, lead, facts, items, advice, link, organizationName }: Notice): string => {
  const { source, license } = attribution;
  return [
    `${headline}\n${"=".repeat([...headline].length)}`,
    lead,
    ...(facts.length === 0 ? [] : [facts.map(({ label, value }) => `${label}: ${value}`).join("\n")]),
    ...items.map(({ title, details, url }) =>
      [`* ${title}`, ...details, ...(url === undefined ? [] : [url])].join("\n  "),
    ),
    ...(advice === undefined ? [] : [advice]),
    ...(link === undefined ? [] : [`${link.label}: ${link.url}`]),
    // "-- " separates a signature from the text (RFC 3676).
    `-- \n${senderName} for ${organizationName}\nBreach data: ${source.label} (${source.url}), ${license.label} (${license.url})\n`,
  ].join("\n\n");
};

const htmlOf = (notice: Notice): string => {
  const { summary, headline, lead, facts, items, advice, link, organizationName } = notice;
  const { source, license } = attribution;
  const list = items.map(({ title, details, url }) => {
    const name = url === undefined ? escaped(title) : linked({ label: title, url });
    const lines = [`<strong>${name}</strong>`, ...details.map(escaped)];
    return `<li style="margin-bottom: 0.75em">${lines.join("<br>\n")}</li>`;
  });
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta name="viewport" content="width=device-width">\n<title>${escaped(summary)}</title>\n</head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">',
    `<h1 style="font-size: 1.3em">${escaped(headline)}</h1>\n<p>${escaped(lead)}</p>`,
    ...(facts.length === 0 ? [] : [`<p>${facts.map(factInHtml).join("<br>\n")}</p>`]),
    ...(list.length === 0 ? [] : ["<ul>", ...list, "</ul>"]),
    ...(advice === undefined ? [] : [`<p>${escaped(advice)}</p>`]),
    ...(link === undefined ? [] : [`<p>${linked(link)}</p>`]),
    `<hr>\n<p style="font-size: 0.85em">${senderName} for ${escaped(organizationName)}<br>`,
    `Breach data: ${linked(source)}, ${linked(license)}</p>\n</body>\n</html>\n`,
  ].join("\n");
};

/** `bdi` keeps a name that is written from right to left from reordering the text around it. */
const factInHtml = ({ label, value }: Notice["facts"][number]): string =>
  `${escaped(label)}: <bdi>${escaped(value)}</bdi>`;

const linked = ({ label, url }: Link): string => `<a href="${escaped(url)}">${escaped(label)}</a>`;
