import * as z from "zod";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { booleanParameter, idParameter, pageQuery } from "../../shared/api/page.ts";
import { monitoredEmail } from "../../shared/emails/schema.ts";

export const listEmails = defineEndpoint({
  summary: "List monitored e-mails, newest first",
  query: z.object({
    ...pageQuery,
    domainId: idParameter("domainId").optional(),
    teamId: idParameter("teamId").optional(),
    isActive: booleanParameter("isActive").optional(),
  }),
  status: 200,
  reply: z.object({ emails: z.array(monitoredEmail), total: z.int() }),
  refusals: [],
  uses: ["table:read"],
});
