import { serve } from "../../shared/access/api/serve.ts";
import * as recipients from "../../shared/alerting/recipients/recipient.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { unsubscribeRecipient } from "./endpoint.ts";

export const handler = serve(unsubscribeRecipient, async ({ path }) => {
  const isKnown = await recipients.setConsent(path.token, "refused");
  if (!isKnown) throw new Refusal("recipientLinkInvalid");
});
