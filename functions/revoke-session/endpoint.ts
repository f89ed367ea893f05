import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const revokeSession = defineEndpoint({
  summary: "End one of the user's own sessions",
  access: "user",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["sessionNotFound"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
