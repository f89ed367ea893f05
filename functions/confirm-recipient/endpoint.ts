import * as z from "zod/mini";
import { recipientToken } from "../../shared/alerting/kinds/email/recipient-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const confirmRecipient = defineEndpoint({
  summary: "Confirm that an address wants an organization's alerts",
  description:
    "Confirms an address that was asked to confirm; one that had unsubscribed receives alerts again.",
  access: "anyone",
  path: z.object({ token: recipientToken }),
  malformed: { token: "recipientLinkInvalid" },
  refusals: ["recipientLinkInvalid"],
  uses: ["table:recipients"],
});
