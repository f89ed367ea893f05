import * as z from "zod";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { booleanParameter, idParameter, pageQuery } from "../../shared/api/page.ts";
import { finding } from "../../shared/findings/schema.ts";

export const listBreaches = defineEndpoint({
  summary: "List breach findings across all monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    acknowledged: booleanParameter("acknowledged").optional(),
    scanId: idParameter("scanId").optional(),
  }),
  status: 200,
  reply: z.object({ breaches: z.array(finding), total: z.int(), unacknowledged: z.int() }),
  refusals: [],
  uses: ["table:read"],
});
