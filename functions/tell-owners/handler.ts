import { Logger } from "@aws-lambda-powertools/logger";
import { serve } from "../../shared/access/api/serve.ts";
import { tellByHand } from "../../shared/alerting/owners/tell.ts";
import { tellOwners } from "./endpoint.ts";

const logger = new Logger();

export const handler = serve(tellOwners, async ({ org, actor, body: { ids } }) => ({
  matching: await tellByHand(org, ids, actor, logger),
}));
