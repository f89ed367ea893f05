import { serve } from "../../shared/access/api/serve.ts";
import * as domainRemovals from "../../shared/monitoring/domains/domain-removal.ts";
import { removeDomain } from "./endpoint.ts";

export const handler = serve(removeDomain, async ({ org, actor, path }) => {
  await domainRemovals.remove(org, path.id, actor);
  return { success: true };
});
