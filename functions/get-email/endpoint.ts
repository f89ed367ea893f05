import * as z from "zod/mini";
import { ownerState } from "../../shared/alerting/owners/owner-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, count } from "../../shared/contract/page.ts";
import { detailedFinding } from "../../shared/findings/finding-schema.ts";
import { listedEmail } from "../../shared/monitoring/emails/email-schema.ts";

export const getEmail = defineEndpoint({
  summary: "Show one monitored e-mail",
  access: "user",
  path: byId,
  reply: z.object({
    ...listedEmail.shape,
    subAddresses: z.array(z.object({ email: z.string(), breachCount: count })).check(
      z.meta({
        description:
          "Breached addresses like `ada+shop@` of `ada@`, as HIBP named them when its domain was last searched",
      }),
    ),
    findings: z
      .array(detailedFinding)
      .check(z.meta({ description: "The newest 100; `breachCount` says how many there are" })),
    owner: ownerState,
  }),
  refusals: ["emailNotFound"],
  uses: ["table:read", "table:breach-index"],
});
