import { attemptCookie, readAttempts } from "../../shared/access/api/attempt-cookie.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as provider from "../../shared/access/sign-in/provider.ts";
import { openProvider } from "./endpoint.ts";

export const handler = serve(openProvider, async ({ event, cookies, logger }) => {
  const { url, secret } = await provider.begin(logger);
  cookies.push(attemptCookie([secret, ...readAttempts(event)]));
  return { url };
});
