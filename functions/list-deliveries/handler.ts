import * as deliveries from "../../shared/alerts/delivery-list.ts";
import { serve } from "../../shared/api/serve.ts";
import { listDeliveries } from "./endpoint.ts";

export const handler = serve(listDeliveries, ({ org, path, query }) => deliveries.list(org, path.id, query));
