import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { idParameter } from "../../shared/api/page.ts";

export const changeEmail = defineEndpoint({
  summary: "Enable or disable a monitored e-mail",
  description: "What it already is succeeds, and is not logged. Enabling checks domain and seats again.",
  path: z.object({ id: idParameter("id") }),
  body: z.object({ isActive: z.boolean() }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["emailNotFound", "domainNotVerified", "seatAllowanceReached"],
  limit: "emailChanges",
  counted: "by handler",
  uses: ["table:read", "table:write"],
});
