import * as z from "zod/mini";
import { passkeyOptions } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const beginPasskey = defineEndpoint({
  summary: "Begin to add a passkey",
  description:
    "Gives the options for `navigator.credentials.create()`, whose credential can be added " +
    "within five minutes, once, in the same session.",
  access: "user",
  reply: z.object({ options: passkeyOptions }),
  refusals: ["passkeyLimitReached", "passkeyUnknown", "providerRequired"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
