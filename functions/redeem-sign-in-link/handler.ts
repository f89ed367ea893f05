import { serve } from "../../shared/access/api/serve.ts";
import { sessionCookie } from "../../shared/access/api/session-cookie.ts";
import { visitOf } from "../../shared/access/sessions/browser.ts";
import * as links from "../../shared/access/sign-in/link.ts";
import { redeemSignInLink } from "./endpoint.ts";

export const handler = serve(redeemSignInLink, async ({ body, event, cookies }) => {
  const signedIn = await links.redeem(body.token, body.organizationId, visitOf(event));
  cookies.push(sessionCookie(signedIn.cookie));
  return links.shown(signedIn);
});
