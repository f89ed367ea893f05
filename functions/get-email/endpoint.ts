import * as z from "zod/mini";
import { ownerState } from "../../shared/alerting/owners/owner-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, count } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";
import { detailedFinding } from "../../shared/findings/finding-schema.ts";
import { listedEmail } from "../../shared/monitoring/emails/email-schema.ts";
import { addressChange, shownPerson } from "../../shared/people/view-schema.ts";

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
    person: z.nullable(shownPerson).check(
      z.meta({
        description:
          "Whom a directory names by the address: with several the first directory whose person is active",
      }),
    ),
    leftAt: z
      .nullable(timestamp)
      .check(
        z.meta({ description: "Since when all directories say that the person is gone; null: it is not" }),
      ),
    history: z
      .array(addressChange)
      .check(z.meta({ description: "What followed from directories, newest first; the last 20 changes" })),
  }),
  refusals: ["emailNotFound"],
  uses: ["table:read", "table:breach-index"],
});
