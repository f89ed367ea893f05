import * as z from "zod/mini";
import { passkey } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const listPasskeys = defineEndpoint({
  summary: "List the user's own passkeys in this organization, newest first",
  access: "user",
  reply: z.object({ passkeys: z.array(passkey) }),
  uses: ["table:read"],
});
