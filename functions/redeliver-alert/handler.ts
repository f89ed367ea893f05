import { serve } from "../../shared/access/api/serve.ts";
import * as byHand from "../../shared/alerting/attempts/by-hand.ts";
import { redeliverAlert } from "./endpoint.ts";

export const handler = serve(redeliverAlert, async ({ org, path: { id, deliveryId } }) => {
  await byHand.redeliver(org, id, deliveryId);
  return { success: true, deliveryId };
});
