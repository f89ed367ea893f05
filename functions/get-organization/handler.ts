import { serve } from "../../shared/api/serve.ts";
import * as settings from "../../shared/organizations/settings.ts";
import { getOrganization } from "./endpoint.ts";

export const handler = serve(getOrganization, ({ org }) => settings.show(org, new Date()));
