import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const revokeApiKey = defineEndpoint({
  summary: "Revoke an API key",
  description: "The very next request with it is refused. Revoking it again succeeds.",
  access: "admin",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["apiKeyNotFound"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
