import { Instead, serve } from "../../shared/access/api/serve.ts";
import * as acknowledgements from "../../shared/findings/acknowledgements/acknowledgement.ts";
import { acknowledgeBreaches } from "./endpoint.ts";

export const handler = serve(acknowledgeBreaches, async ({ org, actor, body }) =>
  body.dryRun
    ? new Instead({ matching: await acknowledgements.countMatching(org, body) })
    : acknowledgements.request(org, body, actor),
);
