import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const changeEmail = defineEndpoint({
  summary: "Enable or disable a monitored e-mail",
  description:
    "A request that changes nothing succeeds and is not logged. Enabling needs a verified domain and a free seat.",
  path: byId,
  body: z.object({ isActive: z.boolean() }),
  refusals: ["emailNotFound", "domainNotVerified", "seatAllowanceReached"],
  limit: "emailChanges",
  counted: "by handler",
  uses: ["table:read", "table:write", "table:check:domains"],
});
