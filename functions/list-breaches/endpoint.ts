import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import { finding, findingFilters, unacknowledged } from "../../shared/findings/finding-schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    ...findingFilters,
  }),
  status: 200,
  reply: z.object({
    breaches: z.array(finding),
    total,
    unacknowledged,
  }),
  refusals: [],
  uses: ["table:read"],
});
