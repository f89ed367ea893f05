import * as operator from "../../shared/alerts/operator.ts";
import { serve } from "../../shared/api/serve.ts";
import { testAlertConfig } from "./endpoint.ts";

export const handler = serve(testAlertConfig, async ({ org, path }) => ({
  success: true,
  deliveryId: await operator.test(org, path.id),
}));
