import { Instead, serve } from "../../shared/access/api/serve.ts";
import * as unwatched from "../../shared/monitoring/unwatched/change.ts";
import { watchUnwatched } from "./endpoint.ts";

export const handler = serve(watchUnwatched, async ({ org, actor, body: { ids, dryRun }, count }) => {
  if (dryRun) return new Instead({ quote: await unwatched.quote(org, ids) });
  await count();
  return unwatched.watch(org, ids, actor);
});
