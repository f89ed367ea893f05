import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { revokeApiKey } from "./endpoint.ts";

export const handler = serve(revokeApiKey, async ({ org, actor, path }) => {
  if ((await apiKeys.revoke(org, path.id, actor)) === "unknown") throw new Refusal("apiKeyNotFound");
});
