import { serve } from "../../shared/access/api/serve.ts";
import * as current from "../../shared/access/sessions/current-session.ts";
import { getSession } from "./endpoint.ts";

export const handler = serve(getSession, ({ org, actor, session }) =>
  current.show(org, actor.id, session.hash, new Date()),
);
