import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const removeDomain = defineEndpoint({
  summary: "Remove a domain without monitored e-mails",
  access: "admin",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["domainNotFound", "domainInUse"],
  uses: ["table:read", "table:write", "table:write:domains"],
});
