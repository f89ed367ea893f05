import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { booleanParameter, idParameter, pageQuery, total } from "../../shared/api/page.ts";
import { monitoredEmail } from "../../shared/emails/schema.ts";

export const listEmails = defineEndpoint({
  summary: "List monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    domainId: z.optional(idParameter("domainId")).check(z.meta({ description: "Only those of this domain" })),
    teamId: z.optional(idParameter("teamId")).check(z.meta({ description: "Only those of this team" })),
    isActive: z
      .optional(booleanParameter("isActive"))
      .check(z.meta({ description: "Only the enabled or the disabled" })),
  }),
  status: 200,
  reply: z.object({ emails: z.array(monitoredEmail), total }),
  refusals: [],
  uses: ["table:read"],
});
