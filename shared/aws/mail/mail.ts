/**
 * E-mail through SES, sent from SENDER_EMAIL with SENDER_CONFIGURATION_SET, which are empty unless the stack has
 * a sender.
 */
import { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";

export const senderName = "Breach Monitor";

let ses: SESv2Client | undefined;
const client = (): SESv2Client => {
  // The SDK does not retry: SES would send a second message for a repeated request, and whoever sends has
  // retries already.
  // So a connection that died while the function was frozen would lose a message: each has a new one.
  const agent = { keepAlive: false };
  ses ??= new SESv2Client({ maxAttempts: 1, requestHandler: { httpAgent: agent, httpsAgent: agent } });
  return ses;
};

export type Message = {
  recipient: string;
  subject: string;
  text: string;
  html: string;
  headers?: readonly { Name: string; Value: string }[];
};

/** Sends a message within whole milliseconds. Never throws for what SES does; a `failure` never contains an address. */
export const send = async (
  { recipient, subject, text, html, headers = [] }: Message,
  timeoutMilliseconds: number,
): Promise<{ status: number } | { failure: string; retryAfterSeconds?: number }> => {
  const sender = process.env.SENDER_EMAIL ?? "";
  if (sender === "") return { failure: "e-mail sending is not set up" };
  const deadline = AbortSignal.timeout(timeoutMilliseconds);
  try {
    const reply = await client().send(
      new SendEmailCommand({
        FromEmailAddress: `${senderName} <${sender}>`,
        ConfigurationSetName: process.env.SENDER_CONFIGURATION_SET,
        Destination: { ToAddresses: [recipient] },
        Content: {
          Simple: {
            Subject: { Data: subject, Charset: "UTF-8" },
            Body: { Text: { Data: text, Charset: "UTF-8" }, Html: { Data: html, Charset: "UTF-8" } },
            Headers: [
              // Keeps out-of-office programs from answering (RFC 3834).
              { Name: "Auto-Submitted", Value: "auto-generated" },
              ...headers,
            ],
          },
        },
      }),
      { abortSignal: deadline },
    );
    return { status: reply.$metadata.httpStatusCode ?? 200 };
  } catch (error) {
    const failure = deadline.aborted ? "timeout" : describeFailure(error);
    return isThrottled(error) ? { failure, retryAfterSeconds: 0 } : { failure };
  }
};

/** Errors that mean that the account's sending rate, daily quota or rate of requests is used up. */
const throttlingErrors = new Set([
  "LimitExceededException",
  "ThrottlingException",
  "TooManyRequestsException",
]);

const isThrottled = (error: unknown): boolean => error instanceof Error && throttlingErrors.has(error.name);

/** Reasons by the name of the SES error; the message of the error may contain addresses and is not shown. */
const reasons: Readonly<Record<string, string>> = {
  AccessDeniedException: "not permitted to send from the sender's address",
  AccountSuspendedException: "e-mail sending is suspended",
  BadRequestException: "message refused as not valid",
  LimitExceededException: "limit of e-mail sending reached",
  MailFromDomainNotVerifiedException: "sender is not verified",
  MessageRejected: "message rejected: sender or recipient not verified, or content refused",
  SendingPausedException: "e-mail sending is paused",
  ThrottlingException: "limit of e-mail sending reached",
  TooManyRequestsException: "limit of e-mail sending reached",
};

const describeFailure = (error: unknown): string =>
  (error instanceof Error ? reasons[error.name] : undefined) ?? "e-mail service failed";

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text escaped for HTML elements and quoted attributes. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
