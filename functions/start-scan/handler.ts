import { serve } from "../../shared/api/serve.ts";
import * as scans from "../../shared/scans/scan.ts";
import { startScan } from "./endpoint.ts";

export const handler = serve(startScan, async ({ org, actor, count }) => ({
  success: true,
  scanJobId: await scans.start(org, "manual", actor, count),
}));
