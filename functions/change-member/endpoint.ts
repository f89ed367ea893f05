import * as z from "zod/mini";
import { personName, role } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { notEmpty } from "../../shared/contract/patch.ts";

export const changeMember = defineEndpoint({
  summary: "Change a member's role or name, or forget the account by which the member signs in",
  description:
    "Who is no admin any more has no passkey left, and no session but the one that asks. " +
    "Repeating an interrupted request does the rest. The organization's admins are told of a new " +
    "admin by e-mail, if a sender of e-mail is set up.",
  access: "admin",
  path: byId,
  body: z
    .object({
      role: z.optional(role),
      name: z.optional(z.nullable(personName)),
      hasIdentity: z.optional(z.literal(false)).check(
        z.meta({
          description:
            "`false` forgets the account at the identity provider: the next one there that has " +
            "the member's address signs in as the member from then on",
        }),
      ),
      revokeKeys: z
        .optional(z.boolean())
        .check(z.meta({ description: "Whether to revoke the API keys that the member has made" })),
    })
    .check(notEmpty),
  refusals: ["memberNotFound", "lastAdmin"],
  limit: "memberChanges",
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
