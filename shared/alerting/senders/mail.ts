/** Alerts as e-mail. */

import { escaped, type Message, senderName, send as sendMail } from "../../aws/mail/mail.ts";
import { sendTimeoutSeconds } from "../../contract/alert-timing.ts";
import { type Addressee, oneClickUrlOf, pageUrlOf } from "../recipients/recipient.ts";
import { attribution, type Link, type Notice } from "./notice.ts";
import type { AttemptResult } from "./outbound.ts";

/** Messages of one attempt that are on their way at the same time. */
const concurrency = 5;

/**
 * Sends a notice to each of at most 20 recipients in a message of its own, with a link to unsubscribe. The failure of
 * some does not keep the others from theirs. Without any, nothing is left to send, and it is done. Never throws; a
 * `failure` never contains an address.
 */
export const send = async (
  recipients: readonly Addressee[],
  deliveryId: number,
  notice: Notice,
  dashboardUrl?: string,
): Promise<AttemptResult> => {
  const endsAt = Date.now() + sendTimeoutSeconds * 1_000;
  const open = [...recipients];
  const reached: string[] = [];
  let outcome: AttemptResult = { status: 200 };
  const sendAll = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      const milliseconds = endsAt - Date.now();
      const message = messageTo(next, deliveryId, notice, dashboardUrl);
      const result: AttemptResult =
        milliseconds > 0 ? await sendMail(message, milliseconds) : { failure: "timeout" };
      if ("status" in result) {
        reached.push(next.email);
        continue;
      }
      outcome = result;
      // SES takes nothing more for now.
      if (result.retryAfterSeconds !== undefined) open.length = 0;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendAll));
  return { ...outcome, reached };
};

const messageTo = (
  { email, token }: Addressee,
  deliveryId: number,
  notice: Notice,
  dashboardUrl: string | undefined,
): Message => ({
  recipient: email,
  ...messageOf(notice, dashboardUrl && pageUrlOf(dashboardUrl, token)),
  headers: [
    // Equal in every attempt, so that recipients can recognize a message that came twice.
    { Name: "X-Delivery-Id", Value: String(deliveryId) },
    ...(dashboardUrl === undefined
      ? []
      : [
          { Name: "List-Unsubscribe", Value: `<${oneClickUrlOf(dashboardUrl, token)}>` },
          // RFC 8058, 3.1
          { Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click" },
        ]),
  ],
});

/** A notice as an e-mail: the subject, and the same content as text and as HTML. `unsubscribeUrl`: where its reader unsubscribes. */
export const messageOf = (
  notice: Notice,
  unsubscribeUrl?: string,
): { subject: string; text: string; html: string } => ({
  subject: notice.summary,
  text: textOf(notice, unsubscribeUrl),
  html: htmlOf(notice, unsubscribeUrl),
});

const textOf = (
  { headline, lead, facts, items, advice, link, organizationName }: Notice,
  unsubscribeUrl: string | undefined,
): string => {
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
    `-- \n${senderName} for ${organizationName}\nBreach data: ${source.label} (${source.url}), ${license.label} (${license.url})\n${unsubscribeUrl === undefined ? "" : `Unsubscribe: ${unsubscribeUrl}\n`}`,
  ].join("\n\n");
};

const htmlOf = (notice: Notice, unsubscribeUrl: string | undefined): string => {
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
    `Breach data: ${linked(source)}, ${linked(license)}`,
    ...(unsubscribeUrl === undefined ? [] : [`<br>${linked({ label: "Unsubscribe", url: unsubscribeUrl })}`]),
    "</p>\n</body>\n</html>\n",
  ].join("\n");
};

/** `bdi` keeps a name that is written from right to left from reordering the text around it. */
const factInHtml = ({ label, value }: Notice["facts"][number]): string =>
  `${escaped(label)}: <bdi>${escaped(value)}</bdi>`;

const linked = ({ label, url }: Link): string => `<a href="${escaped(url)}">${escaped(label)}</a>`;
