import * as z from "zod/mini";
import { recipientToken } from "../../shared/alerting/recipients/recipient-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const confirmRecipient = defineEndpoint({
  summary: "Say that one wants an organization's alerts by e-mail",
  description: "Confirms an address that was asked, and takes back that it unsubscribed.",
  access: "anyone",
  path: z.object({ token: recipientToken }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["recipientLinkInvalid"],
  uses: ["table:recipients"],
});
