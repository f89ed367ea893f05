import * as z from "zod/mini";
import { text } from "../../../contract/text.ts";
import { publicUrl } from "../url-schema.ts";

/** In characters. */
const maximumSecretLength = 1024;

/**
 * Behind `whsec_` the base64 (RFC 4648, with padding) of at least 16 bytes, which libraries of Standard Webhooks read.
 */
const signingSecret =
  /^(?!whsec_)|^whsec_(?:[A-Za-z0-9+/]{4}){5,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const secret = text(maximumSecretLength).check(
  z.refine((value) => signingSecret.test(value), "must be the base64 of at least 16 bytes behind whsec_"),
  z.meta({
    description:
      "Signs the deliveries; never returned. An empty string means no secret. A PATCH without " +
      "`secret` keeps the secret. Behind `whsec_` must be the base64 of at least 16 bytes",
  }),
);

export const webhookConfig = z.object({ url: publicUrl, secret: z.optional(secret) });
export type WebhookConfig = z.output<typeof webhookConfig>;

export const shownWebhookConfig = z.object({
  urlPreview: z.string().check(z.meta({ examples: ["https://hooks.example.com/..."] })),
  hasSecret: z.boolean(),
});
