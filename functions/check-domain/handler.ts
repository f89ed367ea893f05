import { serve } from "../../shared/access/api/serve.ts";
import { check } from "../../shared/monitoring/domains/proof.ts";
import { checkDomain } from "./endpoint.ts";

export const handler = serve(checkDomain, ({ org, actor, path }) => check(org, path.id, actor));
