import { serve } from "../../shared/access/api/serve.ts";
import * as teams from "../../shared/monitoring/teams/team.ts";
import { createTeam } from "./endpoint.ts";

export const handler = serve(createTeam, async ({ org, actor, body }) => {
  const { id, name } = await teams.create(org, body.name, actor);
  return { id, name, emailCount: 0, breachedEmailCount: 0 };
});
