import { serve } from "../../shared/api/serve.ts";
import * as scans from "../../shared/scans/scan.ts";
import { listScans } from "./endpoint.ts";

export const handler = serve(listScans, ({ org, query }) => scans.list(org, query, new Date()));
