import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const removeEmail = defineEndpoint({
  summary: "Stop monitoring an e-mail address and delete its findings",
  query: z.object({ id: idParameter("id") }),
  refusals: ["emailNotFound"],
  limit: "emailAddsAndRemovals",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 29,
});
