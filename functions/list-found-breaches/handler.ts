import { serve } from "../../shared/access/api/serve.ts";
import * as breaches from "../../shared/findings/breaches.ts";
import { listFoundBreaches } from "./endpoint.ts";

export const handler = serve(listFoundBreaches, ({ org, actor, query }) => {
  const { assignee, ...rest } = query;
  return breaches.list(org, { ...rest, assignee: assignee === "me" ? actor.id : assignee });
});
