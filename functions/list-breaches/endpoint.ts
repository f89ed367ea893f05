import * as z from "zod";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { booleanParameter, count, idParameter, pageQuery, total } from "../../shared/api/page.ts";
import { finding } from "../../shared/findings/schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    acknowledged: booleanParameter("acknowledged")
      .optional()
      .meta({ description: "Only the acknowledged or the others" }),
    scanId: idParameter("scanId")
      .optional()
      .meta({ description: "Only those that this scan newly detected" }),
  }),
  status: 200,
  reply: z.object({
    breaches: z.array(finding),
    total,
    unacknowledged: count.meta({ description: "Of the organization, whatever the filters" }),
  }),
  refusals: [],
  uses: ["table:read"],
});
