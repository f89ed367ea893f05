import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter, pageQuery, total } from "../../shared/contract/page.ts";
import { findingFilters, ownedFinding, unacknowledged } from "../../shared/findings/finding-schema.ts";

export const listFindings = defineEndpoint({
  summary: "List breach findings with whose address each is, newest first",
  access: "user",
  query: z.object({
    ...pageQuery,
    ...findingFilters,
    breachId: z
      .optional(idParameter("breachId"))
      .check(z.meta({ description: "Only findings of this breach" })),
    domainId: z
      .optional(idParameter("domainId"))
      .check(z.meta({ description: "Only findings of e-mails of this domain" })),
    emailId: z
      .optional(idParameter("emailId"))
      .check(z.meta({ description: "Only findings of this e-mail" })),
  }),
  status: 200,
  reply: z.object({
    findings: z.array(ownedFinding),
    total,
    unacknowledged,
  }),
  refusals: [],
  uses: ["table:read", "table:breach-index"],
});
