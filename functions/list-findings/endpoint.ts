import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { booleanParameter, count, idParameter, pageQuery, total } from "../../shared/contract/page.ts";
import { ownedFinding } from "../../shared/findings/schema.ts";

export const listFindings = defineEndpoint({
  summary: "List breach findings with whose address each is, newest first",
  access: "user",
  query: z.object({
    ...pageQuery,
    acknowledged: z
      .optional(booleanParameter("acknowledged"))
      .check(z.meta({ description: "Only acknowledged (`true`) or unacknowledged (`false`) findings" })),
    breachId: z
      .optional(idParameter("breachId"))
      .check(z.meta({ description: "Only findings of this breach" })),
    domainId: z
      .optional(idParameter("domainId"))
      .check(z.meta({ description: "Only findings of e-mails of this domain" })),
    emailId: z
      .optional(idParameter("emailId"))
      .check(z.meta({ description: "Only findings of this e-mail" })),
    scanId: z
      .optional(idParameter("scanId"))
      .check(z.meta({ description: "Only findings that this scan was the first to detect" })),
  }),
  status: 200,
  reply: z.object({
    findings: z.array(ownedFinding),
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
