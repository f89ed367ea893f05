import { serve } from "../../shared/access/api/serve.ts";
import * as scans from "../../shared/scanning/scan-list.ts";
import { listScans } from "./endpoint.ts";

export const handler = serve(listScans, ({ org, query }) => scans.list(org, query, new Date()));
