import { createHmac } from "node:crypto";

/** Sent only when the channel has a secret. */
export const signatureHeader = "X-Service-Signature";

/** Lower-case hexadecimal HMAC-SHA256 of the exact bytes that are sent, keyed with the channel's secret (UTF-8). */
export const sign = (rawBody: Buffer | string, secret: string): string =>
  createHmac("sha256", secret).update(rawBody).digest("hex");
