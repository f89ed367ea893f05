import { createHmac } from "node:crypto";

/** The header is sent only when the channel has a secret. */
export const signatureHeader = "X-Service-Signature";

/** HMAC-SHA256 of the exact bytes that are sent, in lower-case hexadecimal; the secret's bytes are UTF-8. */
export const sign = (rawBody: Buffer | string, secret: string): string =>
  createHmac("sha256", secret).update(rawBody).digest("hex");

/** Secrets of Standard Webhooks begin with it; the rest is the key in base64 (channel-schema.ts). */
const keyPrefix = "whsec_";

/**
 * The headers of Standard Webhooks (github.com/standard-webhooks/standard-webhooks) for one attempt. They are
 * sent only when the channel has a secret.
 */
export const standardHeaders = (
  { id, at, body }: { id: number; at: Date; body: string },
  secret: string,
): Record<string, string> => {
  const seconds = String(Math.floor(at.getTime() / 1_000));
  const signature = createHmac("sha256", keyOf(secret)).update(`${id}.${seconds}.${body}`).digest("base64");
  return { "webhook-id": String(id), "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` };
};

const keyOf = (secret: string): Buffer =>
  secret.startsWith(keyPrefix)
    ? Buffer.from(secret.slice(keyPrefix.length), "base64")
    : Buffer.from(secret, "utf8");
