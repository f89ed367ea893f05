import { Instead, serve } from "../../shared/access/api/serve.ts";
import * as passkeys from "../../shared/access/sign-in/passkey.ts";
import { redeemPasskey } from "./endpoint.ts";

export const handler = serve(redeemPasskey, async ({ body, origin, setCookie, cookieSession, browser }) => {
  if (body.answer === undefined) return new Instead({ options: await passkeys.beginSignIn(origin) });
  const session = { replaced: cookieSession, browser };
  const { user, organization, cookie } = await passkeys.signIn(body.answer, origin, session);
  setCookie(cookie);
  return {
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    organization: { id: organization.id, name: organization.name },
  };
});
