import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const revokeSession = defineEndpoint({
  summary: "End one of the user's own sessions",
  access: "user",
  path: byId,
  refusals: ["sessionNotFound"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
