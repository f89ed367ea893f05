import { serve } from "../../shared/access/api/serve.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import * as findings from "../../shared/findings/finding.ts";
import { listBreaches } from "./endpoint.ts";

export const handler = serve(listBreaches, async ({ org, query }) => {
  if (query.include === undefined) return findings.list(org, query);
  // How many of a breach are acknowledged is no part of the contract.
  const { acknowledged: _, ...list } = await detailed.list(org, query);
  return list;
});
