import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { total } from "../../shared/contract/page.ts";
import { emailFilters, listedEmail, searchText } from "../../shared/monitoring/emails/email-schema.ts";

export const findEmails = defineEndpoint({
  summary: "Find monitored e-mails, newest first unless `order` says otherwise",
  access: "user",
  query: z.object({ ...emailFilters, q: z.optional(searchText) }),
  reply: z.object({ emails: z.array(listedEmail), total }),
  uses: ["table:read"],
});
