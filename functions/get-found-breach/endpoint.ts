import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { foundBreach } from "../../shared/findings/breach-schema.ts";

export const getFoundBreach = defineEndpoint({
  summary: "Show a breach that the organization has findings of, or addresses that nobody watches",
  access: "user",
  path: byId,
  reply: foundBreach,
  refusals: ["breachNotFound"],
  uses: ["table:read"],
});
