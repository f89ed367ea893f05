import * as z from "zod/mini";
import { sessionUser } from "../../shared/access/organizations/organization-schema.ts";
import { passkeyAnswer } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";

export const redeemPasskey = defineEndpoint({
  summary: "Sign in with a passkey",
  description:
    "The passkey says whose it is, and in which organization. Success ends the session of the request's cookie.",
  access: "anyone",
  body: z.object({ answer: passkeyAnswer }),
  status: 201,
  reply: z.object({ user: sessionUser, organization: z.object({ id: idField, name: z.string() }) }),
  malformed: { answer: "passkeyRefused" },
  refusals: ["passkeyUnknown", "passkeyRefused", "attemptUnknown", "providerRequired"],
  cookie: "set",
  uses: ["table:read", "table:write", "table:write:identities"],
});
