import { ownOrigin } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { sessionCookie } from "../../shared/access/api/session-cookie.ts";
import { visitOf } from "../../shared/access/sessions/browser.ts";
import * as links from "../../shared/access/sign-in/link.ts";
import * as passkeys from "../../shared/access/sign-in/passkey.ts";
import { redeemPasskey } from "./endpoint.ts";

export const handler = serve(redeemPasskey, async ({ body, event, cookies }) => {
  const signedIn = await passkeys.signIn(body.answer, ownOrigin(event), visitOf(event));
  cookies.push(sessionCookie(signedIn.cookie));
  return links.shown(signedIn);
});
