import * as z from "zod/mini";
import { sessionUser } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";

export const redeemProviderCode = defineEndpoint({
  summary: "Sign in by the identity provider's answer",
  description:
    "The answer is good once, whatever comes of it, in the browser in which the attempt was " +
    "begun. A refusal that asks to choose an organization has the `token` of a link with which " +
    "one signs in then. Success ends the session of the request's cookie.",
  access: "anyone",
  body: z.object({
    answer: z.string().check(
      z.minLength(1),
      z.maxLength(8_000),
      z.meta({
        description: "The query, without `?`, of the url to which the provider has led the browser back",
      }),
    ),
  }),
  malformed: { answer: "providerMalformed" },
  status: 201,
  reply: z.object({ user: sessionUser, organization: z.object({ id: idField, name: z.string() }) }),
  refusals: [
    "noProvider",
    "providerUnavailable",
    "providerSlow",
    "providerMalformed",
    "providerRefused",
    "attemptUnknown",
    "identityExpired",
    "identityForeign",
    "addressUnverified",
    "claimRequired",
    "userUnknown",
    "identityChanged",
    "chooseOrganization",
  ],
  cookie: "set",
  uses: ["table:read", "table:write", "table:write:identities", "provider"],
  timeoutSeconds: 15,
});
