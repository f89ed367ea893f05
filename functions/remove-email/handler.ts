import { serve } from "../../shared/api/serve.ts";
import * as removals from "../../shared/removals/removal.ts";
import { removeEmail } from "./endpoint.ts";

export const handler = serve(removeEmail, async ({ org, actor, query }) => {
  await removals.remove(org, query.id, actor);
  return { success: true };
});
