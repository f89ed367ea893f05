import { serve } from "../../shared/access/api/serve.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { changeTeam } from "./endpoint.ts";

export const handler = serve(changeTeam, async ({ org, actor, path, body: { name } }) => {
  if (name !== undefined) await teams.rename(org, path.id, name, actor);
});
