import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { booleanParameter, byId } from "../../shared/contract/page.ts";

export const removeMember = defineEndpoint({
  summary: "Remove a member",
  description:
    "The member's sessions and passkeys end at once. Repeating an interrupted request does the rest.",
  access: "admin",
  path: byId,
  query: z.object({
    revokeKeys: z
      .optional(booleanParameter("revokeKeys"))
      .check(z.meta({ description: "Whether to revoke the API keys that the member has made" })),
  }),
  refusals: ["memberNotFound", "lastAdmin"],
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
