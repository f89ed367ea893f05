import { serve } from "../../shared/access/api/serve.ts";
import { tellOwnersByHand } from "../../shared/alerting/owners/tell.ts";
import { tellOwners } from "./endpoint.ts";

export const handler = serve(tellOwners, async ({ org, actor, body: { ids } }) => ({
  matching: await tellOwnersByHand(org, ids, actor),
}));
