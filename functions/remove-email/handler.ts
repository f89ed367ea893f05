import { serve } from "../../shared/access/api/serve.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import { removeEmail } from "./endpoint.ts";

export const handler = serve(removeEmail, ({ org, actor, query }) => removals.remove(org, query.id, actor));
