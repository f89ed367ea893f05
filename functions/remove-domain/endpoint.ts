import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const removeDomain = defineEndpoint({
  summary: "Remove a domain without monitored e-mails",
  access: "admin",
  path: byId,
  refusals: ["domainNotFound", "domainInUse"],
  uses: ["table:read", "table:write", "table:write:domains"],
});
