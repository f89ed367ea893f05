import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { booleanParameter, count, idParameter, pageQuery, total } from "../../shared/contract/page.ts";
import { finding } from "../../shared/findings/schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    acknowledged: z
      .optional(booleanParameter("acknowledged"))
      .check(z.meta({ description: "Only acknowledged (`true`) or unacknowledged (`false`) findings" })),
    scanId: z
      .optional(idParameter("scanId"))
      .check(z.meta({ description: "Only findings that this scan was the first to detect" })),
  }),
  status: 200,
  reply: z.object({
    breaches: z.array(finding),
    total,
    unacknowledged: count.check(
      z.meta({
        description: "How many findings of the organization are unacknowledged, whatever the filters",
      }),
    ),
  }),
  refusals: [],
  uses: ["table:read"],
});
