import { serve } from "../../shared/access/api/serve.ts";
import * as byHand from "../../shared/alerting/attempts/by-hand.ts";
import { testAlertConfig } from "./endpoint.ts";

export const handler = serve(testAlertConfig, async ({ org, path }) => ({
  success: true,
  deliveryId: await byHand.test(org, path.id),
}));
