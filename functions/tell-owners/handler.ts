import { serve } from "../../shared/access/api/serve.ts";
import { tellByHand } from "../../shared/alerting/owners/tell.ts";
import { tellOwners } from "./endpoint.ts";

export const handler = serve(tellOwners, async ({ org, actor, body: { ids } }) => ({
  matching: await tellByHand(org, ids, actor),
}));
