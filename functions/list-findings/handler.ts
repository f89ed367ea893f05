import { serve } from "../../shared/access/api/serve.ts";
import * as findingList from "../../shared/findings/finding-list.ts";
import * as scanList from "../../shared/scanning/scan-list.ts";
import { listFindings } from "./endpoint.ts";

export const handler = serve(listFindings, async ({ org, query }) => {
  const [list, scan] = await Promise.all([
    findingList.list(org, query),
    query.scanId === undefined ? null : scanList.get(org, query.scanId, new Date()),
  ]);
  return { ...list, ...(scan !== null && { scan }) };
});
