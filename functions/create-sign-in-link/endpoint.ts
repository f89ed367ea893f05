import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { emailAddress } from "../../shared/monitoring/emails/email-schema.ts";

export const createSignInLink = defineEndpoint({
  summary: "Send a sign-in link by e-mail",
  description:
    "A message with a link goes out if somebody has this address. Neither the answer nor its " +
    "time tells whether anybody does. The link works once, for 15 minutes. At most 5 an hour for " +
    "each address.",
  access: "anyone",
  body: z.object({ email: emailAddress }),
  status: 202,
  refusals: ["signInLimit"],
  uses: ["table:write", "table:write:identities", "queue:sign-in-mails"],
});
