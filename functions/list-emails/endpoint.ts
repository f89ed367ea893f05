import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { total } from "../../shared/contract/page.ts";
import { emailFilters, monitoredEmail } from "../../shared/monitoring/emails/email-schema.ts";

export const listEmails = defineEndpoint({
  summary: "List monitored e-mails, newest first unless `order` says otherwise",
  query: z.object(emailFilters),
  reply: z.object({ emails: z.array(monitoredEmail), total }),
  uses: ["table:read"],
});
