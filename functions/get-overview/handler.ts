import { serve } from "../../shared/access/api/serve.ts";
import { getOverview } from "./endpoint.ts";
import * as overview from "./overview.ts";

export const handler = serve(getOverview, ({ org }) => overview.read(org, new Date()));
