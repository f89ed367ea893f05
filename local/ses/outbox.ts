import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type LoopbackServer, listenOnLoopback, type Reply } from "../loopback.ts";
import { compose, type SendEmailRequest } from "./message.ts";

/**
 * SES v2's SendEmail on a free loopback port. Mail is never sent: each message becomes one `.eml` file in the
 * directory, whose names sort by time.
 */
export const startOutbox = async ({ directory }: { directory: string }): Promise<LoopbackServer> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return listenOnLoopback(async (request, body) => {
    if (request.method !== "POST" || request.url !== "/v2/email/outbound-emails") {
      return refuse("A local run knows only SendEmail.");
    }
    const messageId = randomUUID();
    const time = new Date();
    const message = compose(JSON.parse(body.toString()) as SendEmailRequest, messageId, time);
    if (typeof message === "string") return refuse(message);
    const file = join(directory, `${time.toISOString().replaceAll(":", "-")}-${messageId}.eml`);
    await writeFile(`${file}.new`, message, { mode: 0o600 });
    await rename(`${file}.new`, file);
    return { status: 200, body: { MessageId: messageId } };
  });
};

const refuse = (message: string): Reply => ({
  status: 400,
  headers: { "x-amzn-errortype": "BadRequestException" },
  body: { message },
});
