import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const revokeOtherSessions = defineEndpoint({
  summary: "End all of the user's other sessions in this organization",
  access: "user",
  uses: ["table:read", "table:write", "table:write:identities"],
});
