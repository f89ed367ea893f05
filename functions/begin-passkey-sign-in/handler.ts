import { ownOrigin } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as options from "../../shared/access/sign-in/passkey-options.ts";
import { beginPasskeySignIn } from "./endpoint.ts";

export const handler = serve(beginPasskeySignIn, async ({ event }) => ({
  options: await options.toSignIn(ownOrigin(event)),
}));
