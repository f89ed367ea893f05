import * as z from "zod/mini";
import { sessionUser } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";

export const redeemSignInLink = defineEndpoint({
  summary: "Sign in with the token of a link",
  description:
    "The token is what follows `#` in the link. It is good once; a refusal that asks to choose " +
    "an organization leaves it good. Success ends the session of the request's cookie.",
  access: "anyone",
  body: z.object({
    token: z.string().check(z.minLength(1), z.maxLength(200)),
    organizationId: z
      .optional(idField)
      .check(z.meta({ description: "Needed when the address is a user of several organizations" })),
  }),
  malformed: { token: "invalidLink" },
  status: 201,
  reply: z.object({ user: sessionUser, organization: z.object({ id: idField, name: z.string() }) }),
  refusals: ["invalidLink", "chooseOrganization"],
  cookie: "set",
  uses: ["table:read", "table:write", "table:write:identities"],
});
