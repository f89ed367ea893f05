/** An event that webhook channels receive, as a webhook of the document. */
import * as z from "zod/mini";
import type { oas31, ZodOpenApiPathItemObject } from "zod-openapi";
import { signatureHeader } from "../../shared/alerting/kinds/webhook/signature.ts";
import { idField } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";
import { camelCase } from "./operation.ts";

export const webhook = (type: string, data: z.ZodMiniObject): ZodOpenApiPathItemObject => {
  const envelope = z.object({
    id: idField.check(
      z.meta({ description: "The same in every attempt of one delivery: ignore one that was seen" }),
    ),
    type: z.literal(type),
    timestamp: timestamp.check(z.meta({ description: "Of this attempt: reject or log old ones" })),
    data,
  });
  return {
    post: {
      operationId: camelCase(`receive-${type.replaceAll("_", "-")}`),
      summary: `An event of type ${type}`,
      description:
        "An attempt fails without a 2xx within 10 seconds; redirects are not followed. It is " +
        "repeated after about 1 and 2 seconds, and all three about every hour, 30 attempts in " +
        "all.",
      tags: ["webhooks"],
      security: [],
      parameters: [
        {
          name: signatureHeader,
          in: "header",
          required: false,
          description:
            "Only when the channel has a secret: HMAC-SHA256 of the raw body, keyed with the " +
            "secret. Compare it in constant time.",
          schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
        ...standardHeaders,
      ],
      requestBody: {
        required: true,
        content: { "application/json": { schema: envelope } },
      },
      responses: {
        "2XX": { description: "Delivered" },
        default: { description: "A failed attempt" },
      },
    },
  };
};

const standardHeader = (name: string, pattern: string, what: string): oas31.ParameterObject => ({
  name,
  in: "header",
  required: false,
  description: `Only when the channel has a secret: ${what}.`,
  schema: { type: "string", pattern },
});

/** Standard Webhooks. */
const standardHeaders = [
  standardHeader("webhook-id", "^[1-9][0-9]*$", "the `id` of the body"),
  standardHeader("webhook-timestamp", "^[0-9]+$", "Unix seconds of this attempt"),
  standardHeader(
    "webhook-signature",
    "^v1,[A-Za-z0-9+/]{43}=$",
    "`v1,` and the base64 of the HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, by Standard " +
      "Webhooks. Its key is the secret, or the bytes whose base64 is behind `whsec_`",
  ),
];
