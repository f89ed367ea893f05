import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { detailedFinding } from "../../shared/findings/finding-schema.ts";

export const getFinding = defineEndpoint({
  summary: "Show a breach finding in full",
  access: "user",
  path: byId,
  reply: detailedFinding,
  refusals: ["findingNotFound"],
  uses: ["table:read"],
});
