import { serve } from "../../shared/access/api/serve.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import { getFinding } from "./endpoint.ts";

export const handler = serve(getFinding, async ({ org, path }) =>
  detailed.forPage(await detailed.get(org, path.id)),
);
