import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import { detailedFinding, findingFilters, unacknowledged } from "../../shared/findings/finding-schema.ts";

export const listFindings = defineEndpoint({
  summary: "List breach findings in full, newest first unless `order` says otherwise",
  access: "user",
  query: z.object({ ...pageQuery, ...findingFilters }),
  status: 200,
  reply: z.object({
    findings: z.array(detailedFinding),
    total,
    unacknowledged,
  }),
  refusals: [],
  uses: ["table:read", "table:breach-index"],
});
