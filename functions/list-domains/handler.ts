import { serve } from "../../shared/access/api/serve.ts";
import * as domainList from "../../shared/monitoring/domains/domain-list.ts";
import { countOpen } from "../../shared/monitoring/unwatched/store.ts";
import { listDomains } from "./endpoint.ts";

export const handler = serve(listDomains, async ({ org, query }) => {
  const [listed, unwatched] = await Promise.all([domainList.list(org, query), countOpen(org)]);
  return { ...listed, unwatched };
});
