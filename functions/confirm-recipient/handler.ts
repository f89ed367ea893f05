import { serve } from "../../shared/access/api/serve.ts";
import * as recipients from "../../shared/alerting/recipients/recipient.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { confirmRecipient } from "./endpoint.ts";

export const handler = serve(confirmRecipient, async ({ path }) => {
  const isKnown = await recipients.setConsent(path.token, "given");
  if (!isKnown) throw new Refusal("recipientLinkInvalid");
});
