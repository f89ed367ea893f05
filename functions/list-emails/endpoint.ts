import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { booleanParameter, idParameter, pageQuery, total } from "../../shared/contract/page.ts";
import { monitoredEmail } from "../../shared/monitoring/emails/email-schema.ts";

export const listEmails = defineEndpoint({
  summary: "List monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    domainId: z
      .optional(idParameter("domainId"))
      .check(z.meta({ description: "Only e-mails of this domain" })),
    teamId: z.optional(idParameter("teamId")).check(z.meta({ description: "Only e-mails of this team" })),
    isActive: z
      .optional(booleanParameter("isActive"))
      .check(z.meta({ description: "Only enabled (`true`) or disabled (`false`) e-mails" })),
  }),
  status: 200,
  reply: z.object({ emails: z.array(monitoredEmail), total }),
  refusals: [],
  uses: ["table:read"],
});
