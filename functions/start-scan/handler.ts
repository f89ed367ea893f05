import { serve } from "../../shared/access/api/serve.ts";
import { start } from "../../shared/scanning/start.ts";
import { startScan } from "./endpoint.ts";

export const handler = serve(startScan, async ({ org, actor, count }) => ({
  success: true,
  scanJobId: await start(org, "manual", actor, count),
}));
