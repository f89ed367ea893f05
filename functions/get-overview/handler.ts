import { serve } from "../../shared/api/serve.ts";
import * as overview from "../../shared/overview/overview.ts";
import { getOverview } from "./endpoint.ts";

export const handler = serve(getOverview, ({ org }) => overview.read(org, new Date()));
