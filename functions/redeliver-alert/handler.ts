import { serve } from "../../shared/access/api/serve.ts";
import * as operator from "../../shared/alerting/deliveries/by-hand.ts";
import { redeliverAlert } from "./endpoint.ts";

export const handler = serve(redeliverAlert, async ({ org, path: { id, deliveryId } }) => {
  await operator.redeliver(org, id, deliveryId);
  return { success: true, deliveryId };
});
