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

/** `isOperators`: only whoever operates the service can mend it. With `retryAfterSeconds` SES is too busy. */
type Failure = { failure: string; isOperators?: boolean; retryAfterSeconds?: number };

/** Sends a message within whole milliseconds. Never throws for what SES does; a `failure` never contains an address. */
export const send = async (
  { recipient, subject, text, html, headers = [] }: Message,
  timeoutMilliseconds: number,
): Promise<{ status: number } | Failure> => {
  const sender = process.env.SENDER_EMAIL ?? "";
  if (sender === "") return { failure: "e-mail sending is not set up", isOperators: true };
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
              // Keep out-of-office programs from answering: by RFC 3834, and Exchange, which reads its own
              // header alone. `Precedence` is left out, by which ticket systems and spam filters judge too.
              { Name: "Auto-Submitted", Value: "auto-generated" },
              { Name: "X-Auto-Response-Suppress", Value: "OOF, AutoReply" },
              ...headers,
            ],
          },
        },
      }),
      { abortSignal: deadline },
    );
    return { status: reply.$metadata.httpStatusCode ?? 200 };
  } catch (error) {
    if (deadline.aborted) return { failure: "timeout" };
    return failures[(error as Error).name] ?? { failure: "e-mail service failed" };
  }
};

/** The account's sending rate, daily quota or rate of requests is used up. */
const busy: Failure = { failure: "limit of e-mail sending reached", isOperators: true, retryAfterSeconds: 0 };

/** By the name of the SES error; the message of the error may contain addresses and is not shown. */
const failures: Readonly<Record<string, Failure>> = {
  AccessDeniedException: { failure: "not permitted to send from the sender's address", isOperators: true },
  AccountSuspendedException: { failure: "e-mail sending is suspended", isOperators: true },
  BadRequestException: { failure: "message refused as not valid" },
  LimitExceededException: busy,
  MailFromDomainNotVerifiedException: { failure: "sender is not verified", isOperators: true },
  MessageRejected: { failure: "message rejected: sender or recipient not verified, or content refused" },
  SendingPausedException: { failure: "e-mail sending is paused", isOperators: true },
  ThrottlingException: busy,
  TooManyRequestsException: busy,
};

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
