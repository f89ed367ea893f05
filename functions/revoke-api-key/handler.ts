import { serve } from "../../shared/api/serve.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import * as apiKeys from "../../shared/organizations/api-key.ts";
import { revokeApiKey } from "./endpoint.ts";

export const handler = serve(revokeApiKey, async ({ org, actor, path }) => {
  if ((await apiKeys.revoke(org, path.id, actor)) === "unknown") throw new Refusal("apiKeyNotFound");
  return { success: true };
});
