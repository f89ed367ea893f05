import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const revokeOtherSessions = defineEndpoint({
  summary: "End all of the user's other sessions in this organization",
  access: "user",
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: [],
  uses: ["table:read", "table:write", "table:write:identities"],
});
