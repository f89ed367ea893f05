import * as z from "zod/mini";
import { passkeyId } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const removePasskey = defineEndpoint({
  summary: "Remove one of the user's own passkeys in this organization",
  description: "Removing one that is not there does nothing.",
  access: "user",
  path: z.object({ id: passkeyId }),
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
