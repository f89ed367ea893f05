import * as z from "zod/mini";
import { recipientToken, recipientView } from "../../shared/alerting/recipients/recipient-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const getRecipient = defineEndpoint({
  summary: "Who gets alerts by the link of this token",
  description: "The token is what follows `#` in the link at the end of each alert by e-mail.",
  access: "anyone",
  path: z.object({ token: recipientToken }),
  status: 200,
  reply: recipientView,
  refusals: ["recipientLinkInvalid"],
  uses: ["table:read"],
});
