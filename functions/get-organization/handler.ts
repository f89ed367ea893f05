import { serve } from "../../shared/access/api/serve.ts";
import * as settings from "../../shared/access/organizations/settings.ts";
import { getOrganization } from "./endpoint.ts";

export const handler = serve(getOrganization, ({ org }) => settings.show(org, new Date()));
