import * as z from "zod/mini";
import { recipientToken, recipientView } from "../../shared/alerting/kinds/email/recipient-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const getRecipient = defineEndpoint({
  summary: "Get the recipient a link was sent to",
  description: "The token is what follows `#` in the link at the end of each alert by e-mail.",
  access: "anyone",
  path: z.object({ token: recipientToken }),
  malformed: { token: "recipientLinkInvalid" },
  reply: recipientView,
  refusals: ["recipientLinkInvalid"],
  uses: ["table:read"],
});
