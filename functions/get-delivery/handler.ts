import { serve } from "../../shared/access/api/serve.ts";
import * as deliveries from "../../shared/alerting/attempts/delivery-list.ts";
import { channelIdOf } from "../../shared/alerting/owners/owner.ts";
import { getDelivery } from "./endpoint.ts";

export const handler = serve(getDelivery, ({ org, path }) =>
  deliveries.get(org, channelIdOf(path.id), path.deliveryId, process.env.DASHBOARD_URL ?? ""),
);
