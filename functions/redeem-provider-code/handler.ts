import { Logger } from "@aws-lambda-powertools/logger";
import { serve } from "../../shared/access/api/serve.ts";
import { personName } from "../../shared/access/organizations/organization-schema.ts";
import * as provider from "../../shared/access/sign-in/provider.ts";
import { signIn } from "../../shared/access/sign-in/single-sign-on.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { verifiedFor } from "../../shared/monitoring/domains/verified-for.ts";
import { domainOf, emailAddress } from "../../shared/monitoring/emails/email-schema.ts";
import { redeemProviderCode } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(redeemProviderCode, async (call) => {
  const { body, attempts, keepAttempts, setCookie, cookieSession, browser } = call;
  const answer = new URLSearchParams(body.answer);
  const secret = attempts.find((each) => provider.stateOf(each) === answer.get("state"));
  if (secret === undefined) throw new Refusal("attemptUnknown");
  const { address, name } = await provider.identify(answer, secret, logger);
  const email = emailAddress.safeParse(address).data;
  if (email === undefined) throw new Refusal("addressUnverified");
  const { user, organization, cookie } = await signIn(
    { email, name: personName.safeParse(name).data ?? null },
    {
      findHomes: () => (process.env.OIDC_JOIN === "member" ? verifiedFor(domainOf(email)) : []),
      replaced: cookieSession,
      browser,
    },
  );
  setCookie(cookie);
  keepAttempts(attempts.filter((each) => each !== secret));
  return {
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    organization: { id: organization.id, name: organization.name },
  };
});
