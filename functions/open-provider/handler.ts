import { attemptCookie, readAttempts } from "../../shared/access/api/attempt-cookie.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as attempts from "../../shared/access/sign-in/attempt.ts";
import * as provider from "../../shared/access/sign-in/provider.ts";
import { openProvider } from "./endpoint.ts";

export const handler = serve(openProvider, async ({ query, event, cookies, logger }) => {
  const { url, secret } = await provider.begin(logger, query);
  await attempts.begin(secret);
  cookies.push(attemptCookie([secret, ...readAttempts(event)]));
  return { url };
});
