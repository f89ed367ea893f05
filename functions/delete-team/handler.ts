import { serve } from "../../shared/api/serve.ts";
import * as teamRemovals from "../../shared/removals/team-removal.ts";
import { deleteTeam } from "./endpoint.ts";

export const handler = serve(deleteTeam, async ({ org, actor, path }) => {
  await teamRemovals.remove(org, path.id, actor);
  return { success: true };
});
