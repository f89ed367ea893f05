import * as z from "zod/mini";
import { newPasskey, passkeyId, passkeyOptions } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const changePasskeys = defineEndpoint({
  summary: "Add or remove one of the user's own passkeys in this organization",
  description:
    "To add one, `begin` gives the options for `navigator.credentials.create()`, whose credential `add` takes within five minutes, once, in the same session. A user has at most 10, and gets an e-mail about each that is added or removed, if a sender of e-mail is set up. Removing one that is not there does nothing.",
  access: "user",
  body: z.discriminatedUnion("action", [
    z.object({ action: z.literal("begin") }).check(z.meta({ id: "PasskeyBegin" })),
    z.object({ action: z.literal("add"), answer: newPasskey }).check(z.meta({ id: "PasskeyAdd" })),
    z.object({ action: z.literal("remove"), id: passkeyId }).check(z.meta({ id: "PasskeyRemove" })),
  ]),
  malformed: { answer: "passkeyRefused" },
  reply: z.object({ success: z.boolean(), options: z.optional(passkeyOptions) }),
  refusals: [
    "passkeyLimitReached",
    "passkeysOfDay",
    "passkeyRefused",
    "attemptUnknown",
    "passkeyUnknown",
    "providerRequired",
  ],
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
