import * as z from "zod/mini";
import { recipientToken } from "../../shared/alerting/kinds/email/recipient-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const unsubscribeRecipient = defineEndpoint({
  summary: "Unsubscribe from an organization's alerts by e-mail",
  description:
    "Also what mail programs post to when their user unsubscribes with one click (RFC 8058), so " +
    "the body is not read and may be of any type. It concerns every channel of the organization.",
  access: "anyone",
  path: z.object({ token: recipientToken }),
  malformed: { token: "recipientLinkInvalid" },
  refusals: ["recipientLinkInvalid"],
  uses: ["table:recipients"],
});
