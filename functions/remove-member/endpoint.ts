import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const removeMember = defineEndpoint({
  summary: "Remove a member",
  description: "The member's sessions end at once.",
  access: "admin",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["memberNotFound", "lastAdmin"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
