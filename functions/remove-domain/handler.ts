import { serve } from "../../shared/access/api/serve.ts";
import * as domainRemovals from "../../shared/monitoring/domains/domain-removal.ts";
import { removeDomain } from "./endpoint.ts";

export const handler = serve(removeDomain, ({ org, actor, path }) =>
  domainRemovals.remove(org, path.id, actor),
);
