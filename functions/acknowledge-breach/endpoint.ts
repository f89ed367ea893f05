import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { acknowledgeReason, resolution } from "../../shared/findings/finding-schema.ts";

export const acknowledgeBreach = defineEndpoint({
  summary: "Acknowledge a breach finding",
  description: "Acknowledging a finding again replaces its resolution, reason, actor and time.",
  body: z.object({
    id: idField.check(z.meta({ description: "The finding's id" })),
    resolution: z._default(resolution, "handled"),
    reason: z.optional(acknowledgeReason),
  }),
  refusals: ["findingNotFound"],
  uses: ["table:read", "table:write"],
});
