import { serve } from "../../shared/access/api/serve.ts";
import * as teamRemovals from "../../shared/monitoring/teams/team-removal.ts";
import { deleteTeam } from "./endpoint.ts";

export const handler = serve(deleteTeam, async ({ org, actor, path }) => {
  await teamRemovals.remove(org, path.id, actor);
  return { success: true };
});
