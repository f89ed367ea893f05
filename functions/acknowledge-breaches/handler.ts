import * as acknowledgements from "../../shared/acknowledgements/acknowledgement.ts";
import { Instead, serve } from "../../shared/api/serve.ts";
import { acknowledgeBreaches } from "./endpoint.ts";

export const handler = serve(acknowledgeBreaches, async ({ org, actor, body }) =>
  body.dryRun
    ? new Instead({ matching: await acknowledgements.countMatching(org, body) })
    : acknowledgements.request(org, body, actor),
);
