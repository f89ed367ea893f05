import { serve } from "../../shared/access/api/serve.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { deleteTeam } from "./endpoint.ts";

export const handler = serve(deleteTeam, ({ org, actor, path }) => teams.remove(org, path.id, actor));
