import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { idField } from "../../shared/api/page.ts";
import { acknowledgeReason, resolution } from "../../shared/findings/schema.ts";

export const acknowledgeBreach = defineEndpoint({
  summary: "Acknowledge a breach finding",
  description: "Acknowledging again replaces resolution, reason, who and when.",
  body: z.object({
    id: idField.check(z.meta({ description: "The finding's id" })),
    resolution: z._default(resolution, "handled"),
    reason: z.optional(acknowledgeReason),
  }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["findingNotFound"],
  uses: ["table:read", "table:write"],
});
