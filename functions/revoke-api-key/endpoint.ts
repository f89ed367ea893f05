import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const revokeApiKey = defineEndpoint({
  summary: "Revoke an API key",
  description: "The very next request with it is refused. Revoking it again succeeds.",
  access: "admin",
  path: byId,
  refusals: ["apiKeyNotFound"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
