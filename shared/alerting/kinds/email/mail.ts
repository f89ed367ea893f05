/** Alerts as e-mail. */

import { type Message, senderName, send as sendMail } from "../../../aws/mail/mail.ts";
import { sendTimeoutSeconds } from "../../../contract/alert-timing.ts";
import type { AttemptResult } from "../kind.ts";
import { attribution, type Notice } from "../notice.ts";
import { htmlOf } from "./mail-html.ts";
import { type Addressee, oneClickUrlOf, pageUrlOf } from "./recipient.ts";

/** Messages of one attempt that are on their way at the same time. */
const concurrency = 5;

/**
 * Sends a notice to at most 20 recipients, each in a message with a link to unsubscribe. If some fail, the
 * others are still sent. Without recipients it succeeds. Never throws; a `failure` never contains an address.
 */
export const send = async (
  recipients: readonly Addressee[],
  deliveryId: number,
  notice: Notice,
  dashboardUrl: string,
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
  dashboardUrl: string,
): Message => ({
  recipient: email,
  ...messageOf(notice, pageUrlOf(dashboardUrl, token)),
  headers: [
    // Equal in every attempt, so that recipients can recognize a message that came twice.
    { Name: "X-Delivery-Id", Value: String(deliveryId) },
    ...threadOf(notice),
    { Name: "List-Unsubscribe", Value: `<${oneClickUrlOf(dashboardUrl, token)}>` },
    // RFC 8058, 3.1
    { Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click" },
  ],
});

/** Messages that name the same one, which nobody has sent, are shown as one thread (RFC 5322, 3.6.4). */
const threadOf = ({ threads }: Notice): { Name: string; Value: string }[] =>
  threads.length === 0
    ? []
    : [{ Name: "References", Value: threads.map((each) => `<${each}@breach-monitor.invalid>`).join(" ") }];

/**
 * A notice as an e-mail: the subject, and the same content as text and as HTML. `unsubscribeUrl`: where its
 * reader unsubscribes.
 */
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
    `-- \n${senderName} for ${organizationName}\nBreach data: ${source.label} (${source.url}), ` +
      `${license.label} (${license.url})\n` +
      `${unsubscribeUrl === undefined ? "" : `Unsubscribe: ${unsubscribeUrl}\n`}`,
  ].join("\n\n");
};
