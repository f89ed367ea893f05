/** An e-mail as RFC 5322 has it, with headers in UTF-8 (RFC 6532). */
import { randomUUID } from "node:crypto";

type Text = { Data: string };

/** What a local run knows of SES v2's SendEmail: a message to one recipient, as text and HTML. */
export type SendEmailRequest = {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: readonly string[] };
  Content?: {
    Simple?: {
      Subject: Text;
      Body: { Text?: Text; Html?: Text };
      Headers?: readonly { Name: string; Value: string }[];
    };
  };
};

/** The message, or a sentence that says why it is refused. */
export const compose = (email: SendEmailRequest, messageId: string, time: Date): Buffer | string => {
  const { FromEmailAddress: from, Destination: { ToAddresses: [to, ...rest] = [] } = {}, Content } = email;
  const { Subject, Body: { Text, Html } = {}, Headers = [] } = Content?.Simple ?? {};
  if (!from || !to || rest.length > 0 || !Subject || !Text || !Html)
    return "A local run needs FromEmailAddress, one address in ToAddresses, and a Simple message with Text and Html.";
  const headers: [string, string][] = [
    ["From", from],
    ["To", to],
    ["Subject", Subject.Data],
    ["Date", time.toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<${messageId}@outbox.local>`],
    ["MIME-Version", "1.0"],
    ...Headers.map(({ Name, Value }): [string, string] => [Name, Value]),
  ];
  if (headers.some(([name, value]) => /[\r\n]/.test(name + value))) return "A header contains a line break.";
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  const boundary = randomUUID();
  lines.push(`Content-Type: multipart/alternative; boundary="${boundary}"`);
  const parts = [composePart("text/plain", Text.Data), composePart("text/html", Html.Data)];
  const framed = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${framed}--${boundary}--\r\n`);
};

const composePart = (mediaType: string, text: string): string =>
  `Content-Type: ${mediaType}; charset=utf-8\r\n` +
  `Content-Transfer-Encoding: 8bit\r\n\r\n${text.split(/\r\n|\r|\n/).join("\r\n")}`;
