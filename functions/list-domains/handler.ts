import { serve } from "../../shared/api/serve.ts";
import * as domainList from "../../shared/emails/domain-list.ts";
import { listDomains } from "./endpoint.ts";

export const handler = serve(listDomains, ({ org, query }) => domainList.list(org, query));
