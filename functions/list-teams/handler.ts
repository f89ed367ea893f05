import { serve } from "../../shared/access/api/serve.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { listTeams } from "./endpoint.ts";

export const handler = serve(listTeams, ({ org, query }) => teams.page(org, query));
