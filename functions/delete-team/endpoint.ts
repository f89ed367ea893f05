import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const deleteTeam = defineEndpoint({
  summary: "Delete a team",
  description: "Its e-mails stay, without a team.",
  access: "admin",
  path: byId,
  refusals: ["teamNotFound"],
  uses: ["table:read", "table:write"],
});
