import { attemptCookie, readAttempts } from "../../shared/access/api/attempt-cookie.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { sessionCookie } from "../../shared/access/api/session-cookie.ts";
import { personName } from "../../shared/access/organizations/organization-schema.ts";
import { visitOf } from "../../shared/access/sessions/browser.ts";
import * as attempts from "../../shared/access/sign-in/attempt.ts";
import * as links from "../../shared/access/sign-in/link.ts";
import * as provider from "../../shared/access/sign-in/provider.ts";
import { identityIdOf, signIn } from "../../shared/access/sign-in/single-sign-on.ts";
import { domainOf } from "../../shared/contract/address.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { verifiedFor } from "../../shared/monitoring/domains/domain-list.ts";
import { emailAddress } from "../../shared/monitoring/emails/email-schema.ts";
import { redeemProviderCode } from "./endpoint.ts";

export const handler = serve(redeemProviderCode, async ({ body, event, cookies, logger }) => {
  const answer = new URLSearchParams(body.answer);
  const secrets = readAttempts(event);
  const secret = secrets.find((each) => provider.stateOf(each) === answer.get("state"));
  if (secret === undefined) throw new Refusal("attemptUnknown");
  await attempts.end(secret);
  const { issuer, subject, address, name } = await provider.identify(answer, secret, logger);
  const email = emailAddress.safeParse(address).data;
  if (email === undefined) {
    logger.warn("identity provider failed", { reason: "claims: no e-mail address" });
    throw new Refusal("addressUnverified");
  }
  const findHomes = () => (process.env.OIDC_JOIN === "member" ? verifiedFor(domainOf(email)) : []);
  const identity = {
    identityId: identityIdOf(issuer, subject),
    email,
    name: personName.safeParse(name).data ?? null,
  };
  const signedIn = await signIn(identity, findHomes, visitOf(event));
  cookies.push(sessionCookie(signedIn.cookie), attemptCookie(secrets.filter((each) => each !== secret)));
  return links.shown(signedIn);
});
