import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count, total } from "../../shared/contract/page.ts";
import {
  unwatchedAddress,
  unwatchedDomain,
  unwatchedFilters,
} from "../../shared/monitoring/unwatched/unwatched-schema.ts";

export const listUnwatched = defineEndpoint({
  summary: "List breached addresses that nobody watches",
  description:
    "A domain search names every breached address of a domain. Those that are not monitored are " +
    "kept, without findings, seats and alerts. A domain that is no longer verified or searched " +
    "keeps its list.",
  access: "user",
  query: z.object(unwatchedFilters),
  reply: z.object({
    addresses: z.array(unwatchedAddress),
    total,
    unwatched: count.check(z.meta({ description: "All that are not ignored, whatever the filters" })),
    domains: z
      .array(unwatchedDomain)
      .check(z.meta({ description: "Every domain that has such addresses, whatever the filters" })),
  }),
  uses: ["table:read"],
});
