import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { listenOnLoopback, type Reply } from "./loopback.ts";

export interface Outbox {
  readonly endpoint: string;
  close(): Promise<void>;
}

interface Text {
  readonly Data: string;
}

/** SES v2's SendEmail, without templates. */
interface SendEmailRequest {
  readonly FromEmailAddress?: string;
  readonly ReplyToAddresses?: readonly string[];
  readonly Destination?: {
    readonly ToAddresses?: readonly string[];
    readonly CcAddresses?: readonly string[];
    readonly BccAddresses?: readonly string[];
  };
  readonly Content?: {
    readonly Simple?: {
      readonly Subject: Text;
      readonly Body: { readonly Text?: Text; readonly Html?: Text };
      readonly Headers?: readonly { readonly Name: string; readonly Value: string }[];
    };
    readonly Raw?: { readonly Data: string };
  };
}

const maximumRecipients = 50;
/** Of an encoded word's content, so that with its frame it stays below the 75 characters of RFC 2047. */
const encodedWordBytes = 42;
/** RFC 5322's limit for a line, without its end. */
const maximumLineBytes = 998;

/**
 * SES v2's SendEmail on a free loopback port. Mail is never sent: each message becomes one `.eml` file in the directory, whose
 * names sort by time.
 */
export async function startOutbox(settings: { readonly directory: string }): Promise<Outbox> {
  const { directory } = settings;
  await mkdir(directory, { recursive: true, mode: 0o700 });

  const server = await listenOnLoopback(async (request, body) => {
    if (request.method !== "POST" || request.url !== "/v2/email/outbound-emails") {
      return refuse("A local run knows only SendEmail.");
    }
    const email = JSON.parse(body.toString()) as SendEmailRequest;
    const messageId = randomUUID();
    const time = new Date();
    const message = compose(email, messageId, time);
    if (typeof message === "string") {
      return refuse(message);
    }
    const file = join(directory, `${time.toISOString().replaceAll(":", "-")}-${messageId}.eml`);
    await writeFile(`${file}.new`, message, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return { status: 200, body: { MessageId: messageId } };
  });
  return { endpoint: server.url, close: server.close };
}

/** The message in its form on the wire, or a sentence that says why SES would refuse it. */
function compose(email: SendEmailRequest, messageId: string, time: Date): Buffer | string {
  const { ToAddresses: to = [], CcAddresses: cc = [], BccAddresses: bcc = [] } = email.Destination ?? {};
  const recipients = [...to, ...cc, ...bcc];
  if (recipients.length > maximumRecipients) {
    return `Recipient count exceeds ${maximumRecipients}.`;
  }
  if (email.Content?.Raw !== undefined) {
    return Buffer.from(email.Content.Raw.Data, "base64");
  }
  const simple = email.Content?.Simple;
  if (simple === undefined || (simple.Body.Text === undefined && simple.Body.Html === undefined)) {
    return "Content must have a Simple message with a Body, or a Raw one.";
  }
  if (!email.FromEmailAddress || recipients.length === 0) {
    return "FromEmailAddress and at least one address in Destination are required.";
  }
  const headers: [string, string][] = [
    ["From", email.FromEmailAddress],
    ["To", to.join(", ")],
    ["Cc", cc.join(", ")],
    ["Bcc", bcc.join(", ")],
    ["Reply-To", (email.ReplyToAddresses ?? []).join(", ")],
    ["Subject", simple.Subject.Data],
    ["Date", time.toUTCString().replace("GMT", "+0000")],
    ["Message-ID", `<${messageId}@outbox.local>`],
    ["MIME-Version", "1.0"],
    ...(simple.Headers ?? []).map(({ Name, Value }): [string, string] => [Name, Value]),
  ];
  if (headers.some(([name, value]) => /[\r\n]/.test(name + value))) {
    return "A header contains a line break.";
  }
  const lines = headers
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${encodeHeader(value)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n${composeBody(simple.Body)}`);
}

function composeBody({ Text, Html }: { readonly Text?: Text; readonly Html?: Text }): string {
  const parts = [
    ...(Text === undefined ? [] : [composePart("text/plain", Text.Data)]),
    ...(Html === undefined ? [] : [composePart("text/html", Html.Data)]),
  ];
  if (parts.length === 1) {
    return parts.join("");
  }
  const boundary = randomUUID();
  const framed = parts.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
  return `Content-Type: multipart/alternative; boundary="${boundary}"\r\n\r\n${framed}--${boundary}--\r\n`;
}

/** Readable as it is where a line's length allows. */
function composePart(mediaType: string, text: string): string {
  const lines = text.split(/\r\n|\r|\n/);
  const isShort = lines.every((line) => Buffer.byteLength(line) <= maximumLineBytes);
  const content = isShort
    ? lines.join("\r\n")
    : (
        Buffer.from(text)
          .toString("base64")
          .match(/.{1,76}/g) ?? []
      ).join("\r\n");
  return (
    `Content-Type: ${mediaType}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: ${isShort ? "8bit" : "base64"}\r\n\r\n${content}`
  );
}

/** RFC 2047: what is not ASCII goes into encoded words, none of which may split a character. */
function encodeHeader(value: string): string {
  if (/^[\x20-\x7e\t]*$/.test(value)) {
    return value;
  }
  const words: string[] = [""];
  for (const character of value) {
    const word = words.at(-1) ?? "";
    if (Buffer.byteLength(word + character) > encodedWordBytes) {
      words.push(character);
    } else {
      words[words.length - 1] = word + character;
    }
  }
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}

function refuse(message: string): Reply {
  return { status: 400, headers: { "x-amzn-errortype": "BadRequestException" }, body: { message } };
}
