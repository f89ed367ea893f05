import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import {
  detailedFinding,
  finding,
  findingFilters,
  unacknowledged,
} from "../../shared/findings/finding-schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first unless `order` says otherwise",
  query: z.object({
    ...pageQuery,
    ...findingFilters,
    include: z.optional(z.literal("details", "include must be details")).check(
      z.meta({
        description: "With severity, owner, team and everything that is known of the breach",
        examples: ["details"],
      }),
    ),
  }),
  reply: z.object({
    breaches: z.array(z.union([detailedFinding, finding])),
    total,
    unacknowledged,
  }),
  uses: ["table:read", "table:breach-index"],
});
