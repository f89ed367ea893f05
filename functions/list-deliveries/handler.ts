import { serve } from "../../shared/access/api/serve.ts";
import * as deliveries from "../../shared/alerting/attempts/delivery-list.ts";
import { channelIdOf } from "../../shared/alerting/owners/owner.ts";
import { listDeliveries } from "./endpoint.ts";

export const handler = serve(listDeliveries, ({ org, path, query }) =>
  deliveries.list(org, channelIdOf(path.id), query),
);
