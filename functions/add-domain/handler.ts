import { serve } from "../../shared/access/api/serve.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import * as domainList from "../../shared/monitoring/domains/domain-list.ts";
import { refusalOf } from "../../shared/monitoring/domains/refused-names.ts";
import { addDomain } from "./endpoint.ts";

export const handler = serve(addDomain, async ({ org, actor, body: { name } }) => {
  const refusal = refusalOf(name);
  if (refusal !== undefined) throw new Refusal("domainNotAllowed", { error: `name: ${name} ${refusal}` });
  const domain = await domains.create(org, { name, verified: false }, { proof: actor });
  if (domain === "exists") throw new Refusal("domainExists");
  return domainList.added(domain);
});
