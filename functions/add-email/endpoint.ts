import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { emailAddress, ownerName } from "../../shared/monitoring/emails/email-schema.ts";

export const addEmail = defineEndpoint({
  summary: "Start monitoring an e-mail address",
  body: z.object({
    email: emailAddress,
    domainId: idField.check(
      z.meta({ description: "The domain of the address; it must be a verified domain of the organization" }),
    ),
    teamId: z.optional(idField),
    ownerName: z.optional(ownerName),
  }),
  status: 201,
  reply: z.object({ success: z.boolean(), id: idField }),
  refusals: [
    "domainNotFound",
    "teamNotFound",
    "domainNotVerified",
    "emailAlreadyMonitored",
    "seatAllowanceReached",
  ],
  limit: "emailAddsAndRemovals",
  counted: "by handler",
  repeatable: true,
  uses: ["table:read", "table:write", "table:check:domains"],
});
