import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { booleanParameter, count, idParameter, pageQuery, total } from "../../shared/api/page.ts";
import { finding } from "../../shared/findings/schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    acknowledged: z
      .optional(booleanParameter("acknowledged"))
      .check(z.meta({ description: "Only the acknowledged or the others" })),
    scanId: z
      .optional(idParameter("scanId"))
      .check(z.meta({ description: "Only those that this scan newly detected" })),
  }),
  status: 200,
  reply: z.object({
    breaches: z.array(finding),
    total,
    unacknowledged: count.check(z.meta({ description: "Of the organization, whatever the filters" })),
  }),
  refusals: [],
  uses: ["table:read"],
});
