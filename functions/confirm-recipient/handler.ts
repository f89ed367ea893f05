import { serve } from "../../shared/api/serve.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import * as recipients from "../../shared/mail/recipient.ts";
import { confirmRecipient } from "./endpoint.ts";

export const handler = serve(confirmRecipient, async ({ path }) => {
  const isKnown = await recipients.setConsent(path.token, "given");
  if (!isKnown) throw new Refusal("recipientLinkInvalid");
  return { success: true };
});
