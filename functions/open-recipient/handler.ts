import { serve } from "../../shared/access/api/serve.ts";
import { pageUrlOf } from "../../shared/alerting/kinds/email/recipient.ts";
import { openRecipient } from "./endpoint.ts";

export const handler = serve(openRecipient, async ({ path: { token } }) => ({
  location: pageUrlOf(process.env.DASHBOARD_URL ?? "", encodeURIComponent(token)),
}));
