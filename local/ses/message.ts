/** An e-mail in its form on the wire (RFC 5322). */
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

/** Bytes of an encoded word's content: with its frame the word stays below the 75 characters of RFC 2047. */
const encodedWordBytes = 42;

/** RFC 5322's limit for a line, without its end. */
const maximumLineBytes = 998;

/** The message, or a sentence that says why it is refused. */
export const compose = (email: SendEmailRequest, messageId: string, time: Date): Buffer | string => {
  const { FromEmailAddress: from, Destination: { ToAddresses: [to, ...others] = [] } = {}, Content } = email;
  const { Subject, Body: { Text, Html } = {}, Headers = [] } = Content?.Simple ?? {};
  if (!from || !to || others.length > 0 || !Subject || !Text || !Html)
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
  const lines = headers.map(([name, value]) => `${name}: ${encodeHeader(value)}`);
  const boundary = randomUUID();
  lines.push(`Content-Type: multipart/alternative; boundary="${boundary}"`);
  const parts = [composePart("text/plain", Text.Data), composePart("text/html", Html.Data)];
  const framed = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${framed}--${boundary}--\r\n`);
};

/** The text stays readable unless one of its lines is too long for mail. */
const composePart = (mediaType: string, text: string): string => {
  const lines = text.split(/\r\n|\r|\n/);
  const isShort = lines.every((line) => Buffer.byteLength(line) <= maximumLineBytes);
  const content = isShort
    ? lines
    : (Buffer.from(text)
        .toString("base64")
        .match(/.{1,76}/g) ?? []);
  return (
    `Content-Type: ${mediaType}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: ${isShort ? "8bit" : "base64"}\r\n\r\n${content.join("\r\n")}`
  );
};

/** Text that is not ASCII goes into encoded words (RFC 2047), none of which may split a character. */
const encodeHeader = (value: string): string => {
  if (/^[\x20-\x7e\t]*$/.test(value)) return value;
  const words: string[] = [""];
  for (const character of value) {
    const word = words.at(-1) ?? "";
    if (Buffer.byteLength(word + character) > encodedWordBytes) words.push(character);
    else words[words.length - 1] = word + character;
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
};
