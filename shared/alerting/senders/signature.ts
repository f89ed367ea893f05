import { createHmac } from "node:crypto";

/** The header is sent only when the channel has a secret. */
export const signatureHeader = "X-Service-Signature";

/** HMAC-SHA256 of the exact bytes that are sent, in lower-case hexadecimal; the secret's bytes are UTF-8. */
export const sign = (rawBody: Buffer | string, secret: string): string =>
  createHmac("sha256", secret).update(rawBody).digest("hex");
