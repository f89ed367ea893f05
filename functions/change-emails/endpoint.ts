import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { emailChanges } from "../../shared/monitoring/emails/email-schema.ts";

export const changeEmails = defineEndpoint({
  summary: "Change or remove many monitored e-mails",
  description:
    "Send exactly one of `set` and `remove`. E-mails that already have the wanted values are " +
    "skipped. Enabling skips e-mails of domains that are not verified, and those for which no " +
    "seat is left. The log has one entry for all.",
  access: "user",
  body: emailChanges,
  reply: z.object({ changed: count, skipped: count }),
  refusals: ["emailNotFound", "teamNotFound"],
  limit: "emailBulkChanges",
  uses: ["table:read", "table:write", "table:check:domains"],
  timeoutSeconds: 29,
});
