/** Alerts as e-mail, through SES. The sender is SENDER_EMAIL, which SES has verified; it is missing where none was set up. */
import { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import { attribution, type Notice } from "./notice.ts";
import type { Outcome } from "./outbound.ts";

const senderName = "Breach Monitor";
const deadlineMilliseconds = 10_000;

let ses: SESv2Client | undefined;
const client = (): SESv2Client => {
  // Attempts are counted and repeated by the delivery; SES cannot tell a repeated request from a second message.
  ses ??= new SESv2Client({ maxAttempts: 1 });
  return ses;
};

/**
 * Sends a notice to at most 20 addresses, none of which learns of the others. It is one request, which SES takes as a whole
 * or not at all, so that no recipient gets the message again because another one failed. Nothing is thrown; a
 * `failure` never contains an address.
 */
export const send = async (
  recipients: readonly string[],
  deliveryId: number,
  notice: Notice,
): Promise<Outcome> => {
  const sender = process.env.SENDER_EMAIL ?? "";
  if (sender === "") return { failure: "e-mail sending is not set up" };
  const { subject, text, html } = messageOf(notice);
  const deadline = AbortSignal.timeout(deadlineMilliseconds);
  const to = [...new Set(recipients)];
  try {
    const reply = await client().send(
      new SendEmailCommand({
        FromEmailAddress: `${senderName} <${sender}>`,
        // A single recipient is named, which filters against spam prefer.
        Destination: to.length === 1 ? { ToAddresses: to } : { BccAddresses: to },
        Content: {
          Simple: {
            Subject: { Data: subject, Charset: "UTF-8" },
            Body: { Text: { Data: text, Charset: "UTF-8" }, Html: { Data: html, Charset: "UTF-8" } },
            Headers: [
              // RFC 3834: out-of-office programs do not answer.
              { Name: "Auto-Submitted", Value: "auto-generated" },
              // The same in every attempt, so that a message that came twice can be recognized.
              { Name: "X-Delivery-Id", Value: String(deliveryId) },
            ],
          },
        },
      }),
      { abortSignal: deadline },
    );
    return { status: reply.$metadata.httpStatusCode ?? 200 };
  } catch (error) {
    const failure = deadline.aborted ? "timeout" : describeFailure(error);
    return isThrottled(error) ? { failure, comeBackSeconds: 0 } : { failure };
  }
};

/** More than the account's rate of messages, or of this day. */
const isThrottled = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "TooManyRequestsException" || error.name === "LimitExceededException");

/** Reasons by the name of SES's error. Its message may contain addresses and is not shown. */
const reasons: Readonly<Record<string, string>> = {
  AccessDeniedException: "not permitted to send from the sender's address",
  AccountSuspendedException: "e-mail sending is suspended",
  BadRequestException: "message refused as not valid",
  LimitExceededException: "limit of e-mail sending reached",
  MailFromDomainNotVerifiedException: "sender is not verified",
  MessageRejected: "message rejected: sender or recipient not verified, or content refused",
  SendingPausedException: "e-mail sending is paused",
  TooManyRequestsException: "limit of e-mail sending reached",
};

const describeFailure = (error: unknown): string =>
  (error instanceof Error ? reasons[error.name] : undefined) ?? "e-mail service failed";

/** A notice as a message that is readable as text and as HTML. */
export const messageOf = (notice: Notice): { subject: string; text: string; html: string } => ({
  subject: notice.summary,
  text: textOf(notice),
  html: htmlOf(notice),
});

const textOf = ({ headline, lead, items, advice, organizationName }: Notice): string => {
  const { source, license } = attribution;
  return [
    `${headline}\n${"=".repeat(headline.length)}`,
    lead,
    ...items.map(({ title, detail }) => `* ${title}\n  ${detail}`),
    ...(advice === undefined ? [] : [advice]),
    // The line that sets off a signature.
    `-- \n${senderName} for ${organizationName}\nBreach data: ${source.name} (${source.url}), ${license.name} (${license.url})\n`,
  ].join("\n\n");
};

const htmlOf = ({ summary, headline, lead, items, advice, organizationName }: Notice): string => {
  const { source, license } = attribution;
  const list = items.map(
    ({ title, detail }) =>
      `<li style="margin-bottom: 0.75em"><strong>${escaped(title)}</strong><br>\n${escaped(detail)}</li>`,
  );
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta name="viewport" content="width=device-width">\n<title>${escaped(summary)}</title>\n</head>`,
    '<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">',
    `<h1 style="font-size: 1.3em">${escaped(headline)}</h1>\n<p>${escaped(lead)}</p>`,
    ...(list.length === 0 ? [] : ["<ul>", ...list, "</ul>"]),
    ...(advice === undefined ? [] : [`<p>${escaped(advice)}</p>`]),
    `<hr>\n<p style="font-size: 0.85em">${senderName} for ${escaped(organizationName)}<br>`,
    `Breach data: ${link(source)}, ${link(license)}</p>\n</body>\n</html>\n`,
  ].join("\n");
};

const link = ({ name, url }: { name: string; url: string }): string => `<a href="${url}">${name}</a>`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML shows it, in elements and in quoted attributes. */
const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
