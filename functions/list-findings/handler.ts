import { serve } from "../../shared/access/api/serve.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import { listFindings } from "./endpoint.ts";

export const handler = serve(listFindings, async ({ org, query }) => {
  const { breaches: findings, ...counts } = await detailed.list(org, query);
  return { findings, ...counts };
});
