import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count, pageQuery, total } from "../../shared/contract/page.ts";
import { foundBreach, triage } from "../../shared/findings/breach-schema.ts";
import { detailedFinding, findingFilters, unacknowledged } from "../../shared/findings/finding-schema.ts";
import { scan } from "../../shared/scanning/scan-schema.ts";

export const listFindings = defineEndpoint({
  summary: "List breach findings in full, newest first unless `order` says otherwise",
  access: "user",
  query: z.object({ ...pageQuery, ...findingFilters }),
  reply: z.object({
    findings: z.array(detailedFinding),
    total,
    unacknowledged,
    acknowledged: z.optional(count).check(
      z.meta({
        description: "Without filters but `breachId` and states: the acknowledged findings of the breach",
      }),
    ),
    handled: z.optional(
      count.check(
        z.meta({
          description:
            "How many findings match that are acknowledged, where the list is of open ones and there is none",
        }),
      ),
    ),
    unwatched: z
      .optional(count)
      .check(
        z.meta({ description: "With `breachId`: addresses in it that nobody watches, without ignored ones" }),
      ),
    breach: z
      .optional(foundBreach)
      .check(z.meta({ description: "The breach of `breachId`, where no finding of it is listed" })),
    triage: z
      .optional(z.object(triage))
      .check(z.meta({ description: "Who has the breach of `breachId` in hand" })),
    scan: z
      .optional(scan)
      .check(z.meta({ description: "The scan of `scanId`, if it is one of the last 365 days" })),
  }),
  uses: ["table:read", "table:breach-index"],
});
