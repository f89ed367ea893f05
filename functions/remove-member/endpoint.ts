import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const removeMember = defineEndpoint({
  summary: "Remove a member",
  description: "The member's sessions end at once.",
  access: "admin",
  path: byId,
  refusals: ["memberNotFound", "lastAdmin"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
