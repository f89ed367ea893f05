import { serve } from "../../shared/access/api/serve.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { getOrganization } from "./endpoint.ts";

export const handler = serve(getOrganization, ({ org }) => organizations.show(org, new Date()));
