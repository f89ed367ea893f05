import { Logger } from "@aws-lambda-powertools/logger";
import { serve } from "../../shared/access/api/serve.ts";
import * as provider from "../../shared/access/sign-in/provider.ts";
import { openProvider } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(openProvider, async ({ attempts, keepAttempts }) => {
  const { url, secret } = await provider.begin(logger);
  keepAttempts([secret, ...attempts]);
  return { url };
});
