import { serve } from "../../shared/access/api/serve.ts";
import * as overview from "../../shared/scanning/overview/overview.ts";
import { getOverview } from "./endpoint.ts";

export const handler = serve(getOverview, ({ org }) => overview.read(org, new Date()));
