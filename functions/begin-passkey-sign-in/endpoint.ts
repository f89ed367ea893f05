import * as z from "zod/mini";
import { passkeyOptions } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const beginPasskeySignIn = defineEndpoint({
  summary: "Begin to sign in with a passkey",
  description:
    "Gives the options for `navigator.credentials.get()`, whose credential signs in within five " +
    "minutes, once. They say nothing of who has passkeys.",
  access: "anyone",
  reply: z.object({ options: passkeyOptions }),
  uses: ["table:write", "table:write:identities"],
});
