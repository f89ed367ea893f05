import { Instead, serve } from "../../shared/access/api/serve.ts";
import * as acknowledgements from "../../shared/findings/acknowledgements/acknowledgement.ts";
import { reopenBreaches } from "./endpoint.ts";

export const handler = serve(reopenBreaches, async ({ org, actor, body }) =>
  body.dryRun
    ? new Instead({ matching: await acknowledgements.countMatching(org, body, "reopen") })
    : acknowledgements.request(org, body, actor),
);
