import type { Reply } from "../loopback.ts";

/** An error of Scheduler's API. `type` is the error's name in an AWS SDK. */
export class Refused extends Error {
  readonly reply: Reply;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.reply = { status, headers: { "x-amzn-errortype": type }, body: { Message: message } };
  }
}

export const notFound = (message: string): Refused => new Refused(404, "ResourceNotFoundException", message);
