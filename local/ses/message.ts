/** An e-mail in its form on the wire (RFC 5322). */
import { randomUUID } from "node:crypto";

type Text = { Data: string };

/** What a local run knows of SES v2's SendEmail. */
export type SendEmailRequest = {
  FromEmailAddress?: string;
  Destination?: { ToAddresses?: readonly string[] };
  Content?: { Simple?: SimpleContent };
};

type SimpleContent = {
  Subject: Text;
  Body: { Text?: Text; Html?: Text };
  Headers?: readonly { Name: string; Value: string }[];
};

const maximumRecipients = 50;

/** Bytes of an encoded word's content: with its frame the word stays below the 75 characters of RFC 2047. */
const encodedWordBytes = 42;

/** RFC 5322's limit for a line, without its end. */
const maximumLineBytes = 998;

/** The message, or a sentence that says why SES would refuse it. */
export const compose = (email: SendEmailRequest, messageId: string, time: Date): Buffer | string => {
  const { ToAddresses: to = [] } = email.Destination ?? {};
  if (to.length > maximumRecipients) return `Recipient count exceeds ${maximumRecipients}.`;
  const simple = email.Content?.Simple;
  if (simple === undefined || (simple.Body.Text === undefined && simple.Body.Html === undefined)) {
    return "Content must have a Simple message with a Body.";
  }
  if (!email.FromEmailAddress || to.length === 0) {
    return "FromEmailAddress and at least one address in ToAddresses are required.";
  }
  const headers: [string, string][] = [
    ["From", email.FromEmailAddress],
    ["To", to.join(", ")],
    ["Subject", simple.Subject.Data],
    ["Date", time.toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<${messageId}@outbox.local>`],
    ["MIME-Version", "1.0"],
    ...(simple.Headers ?? []).map(({ Name, Value }): [string, string] => [Name, Value]),
  ];
  if (headers.some(([name, value]) => /[\r\n]/.test(name + value))) return "A header contains a line break.";
  const lines = headers.map(([name, value]) => `${name}: ${encodeHeader(value)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n${composeBody(simple.Body)}`);
};

const composeBody = ({ Text, Html }: SimpleContent["Body"]): string => {
  const parts = [
    ...(Text === undefined ? [] : [composePart("text/plain", Text.Data)]),
    ...(Html === undefined ? [] : [composePart("text/html", Html.Data)]),
  ];
  if (parts.length === 1) return parts.join("");
  const boundary = randomUUID();
  const framed = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return `Content-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n${framed}--${boundary}--\r\n`;
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
