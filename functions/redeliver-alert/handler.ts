import * as operator from "../../shared/alerts/operator.ts";
import { serve } from "../../shared/api/serve.ts";
import { redeliverAlert } from "./endpoint.ts";

export const handler = serve(redeliverAlert, async ({ org, path: { id, deliveryId } }) => {
  await operator.redeliver(org, id, deliveryId);
  return { success: true, deliveryId };
});
