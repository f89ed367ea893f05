import { serve } from "../../shared/access/api/serve.ts";
import * as scanList from "../../shared/scanning/scan-list.ts";
import { listScans } from "./endpoint.ts";

export const handler = serve(listScans, ({ org, query }) => scanList.list(org, query, new Date()));
