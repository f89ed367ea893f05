import { serve } from "../../shared/access/api/serve.ts";
import * as links from "../../shared/access/sign-in/link.ts";
import { redeemSignInLink } from "./endpoint.ts";

export const handler = serve(redeemSignInLink, async ({ body, setCookie, cookieSession, browser }) => {
  const { token, organizationId } = body;
  const { user, organization, cookie } = await links.redeem(token, organizationId, cookieSession, browser);
  setCookie(cookie);
  const { id, name } = organization;
  return {
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    organization: { id, name },
  };
});
