import * as z from "zod/mini";
import { quote } from "../../shared/access/billing/billing-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { unwatchedIds } from "../../shared/monitoring/unwatched/unwatched-schema.ts";

export const watchUnwatched = defineEndpoint({
  summary: "Watch breached addresses that nobody watches",
  description:
    "Adds them as an import does; the next scan makes their findings. `dryRun` only tells what " +
    "that would cost, and does not count against the limit.",
  access: "user",
  body: z.object({ ids: unwatchedIds, dryRun: z._default(z.boolean(), false) }),
  status: 201,
  reply: z.object({
    addedCount: count.check(z.meta({ description: "All that were added" })),
    disabledCount: count.check(
      z.meta({ description: "Those of them that are disabled, beyond the seat allowance" }),
    ),
  }),
  instead: { status: 200, when: "For a dry run", reply: z.object({ quote }) },
  refusals: ["unwatchedNotFound", "domainNotVerified"],
  limit: "importCommits",
  counted: "by handler",
  uses: ["table:read", "table:write", "table:check:domains"],
  timeoutSeconds: 29,
});
