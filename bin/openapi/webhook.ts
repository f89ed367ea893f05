/** An event that webhook channels receive, as a webhook of the document. */
import * as z from "zod/mini";
import { signatureHeader } from "../../shared/alerting/senders/signature.ts";
import { idField } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";
import { camelCase } from "./operation.ts";
import { type Json, jsonContent, jsonSchema, type Schemas } from "./schema.ts";

export const webhook = (type: string, data: z.ZodMiniObject, schemas: Schemas): Json => {
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
        "An attempt fails without a 2xx within 10 seconds; redirects are not followed. It is repeated after about 1 and 2 seconds, and all three about every hour, 30 attempts in all.",
      tags: ["webhooks"],
      security: [],
      parameters: [
        {
          name: signatureHeader,
          in: "header",
          required: false,
          description:
            "Only when the channel has a secret: HMAC-SHA256 of the raw body, keyed with the secret. Compare it in constant time.",
          schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
      ],
      requestBody: { required: true, content: jsonContent(jsonSchema(envelope, "output", schemas)) },
      responses: {
        "2XX": { description: "Delivered" },
        default: { description: "A failed attempt" },
      },
    },
  };
};
