import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { emailChanges } from "../../shared/monitoring/emails/email-schema.ts";

export const changeEmails = defineEndpoint({
  summary: "Change or remove many monitored e-mails",
  description:
    "By `set` or by `remove`, exactly one of them. E-mails that are so already are skipped. Enabling skips e-mails of domains that are not verified, and goes as far as there are seats. The log has one entry for all.",
  access: "user",
  body: emailChanges,
  status: 200,
  reply: z.object({ changed: count, skipped: count }),
  refusals: ["emailNotFound", "teamNotFound"],
  limit: "emailBulkChanges",
  uses: ["table:read", "table:write", "table:check:domains"],
  timeoutSeconds: 29,
});
