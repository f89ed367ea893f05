import { serve } from "../../shared/access/api/serve.ts";
import * as domainList from "../../shared/monitoring/domains/domain-list.ts";
import { listDomains } from "./endpoint.ts";

export const handler = serve(listDomains, ({ org, query }) => domainList.list(org, query));
