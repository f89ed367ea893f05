import { serve } from "../../shared/access/api/serve.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import { changeMany } from "../../shared/monitoring/emails/changes.ts";
import { changeEmails } from "./endpoint.ts";

export const handler = serve(changeEmails, ({ org, actor, body: { ids, set } }) =>
  set === undefined ? removals.removeMany(org, ids, actor) : changeMany(org, ids, set, actor),
);
