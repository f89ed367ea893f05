import { serve } from "../../shared/access/api/serve.ts";
import * as recipients from "../../shared/alerting/kinds/email/recipient.ts";
import { unsubscribeRecipient } from "./endpoint.ts";

export const handler = serve(unsubscribeRecipient, ({ path }) =>
  recipients.setConsent(path.token, "refused"),
);
