import { Instead, serve } from "../../shared/access/api/serve.ts";
import { previewTelling, tellOwnersByHand } from "../../shared/alerting/owners/tell.ts";
import { tellOwners } from "./endpoint.ts";

export const handler = serve(tellOwners, async ({ org, actor, body: { ids, dryRun } }) =>
  dryRun
    ? new Instead(await previewTelling(org, ids))
    : { matching: await tellOwnersByHand(org, ids, actor) },
);
