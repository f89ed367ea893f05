import { serve } from "../../shared/access/api/serve.ts";
import * as recipients from "../../shared/alerting/kinds/email/recipient.ts";
import { confirmRecipient } from "./endpoint.ts";

export const handler = serve(confirmRecipient, ({ path }) => recipients.setConsent(path.token, "given"));
