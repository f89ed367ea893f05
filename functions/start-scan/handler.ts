import { serve } from "../../shared/api/serve.ts";
import { start } from "../../shared/scans/start.ts";
import { startScan } from "./endpoint.ts";

export const handler = serve(startScan, async ({ org, actor, count }) => ({
  success: true,
  scanJobId: await start(org, "manual", actor, count),
}));
