import * as z from "zod/mini";
import {
  apiKey,
  keyAccess,
  keyEnd,
  keyLabel,
} from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const createApiKey = defineEndpoint({
  summary: "Create an API key",
  description:
    "No other reply has the key, but for a repetition under the same `Idempotency-Key`. The " +
    "organization's admins are told by e-mail, if a sender of e-mail is set up.",
  access: "admin",
  body: z.object({
    label: keyLabel,
    access: z._default(keyAccess, "full"),
    expiresAt: z._default(z.nullable(keyEnd), null),
  }),
  status: 201,
  reply: z.object({ ...apiKey.shape, key: z.string().check(z.meta({ description: "The key itself" })) }),
  repeatable: true,
  limit: "apiKeys",
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
