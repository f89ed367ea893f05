import { serve } from "../../shared/access/api/serve.ts";
import { stateOf } from "../../shared/alerting/owners/state.ts";
import * as detailed from "../../shared/findings/detailed.ts";
import * as emails from "../../shared/monitoring/emails/email-list.ts";
import { viewOf } from "../../shared/people/view.ts";
import { getEmail } from "./endpoint.ts";

/** More are asked for with `GET /findings`. */
const mostFindings = 100;

export const handler = serve(getEmail, async ({ org, path: { id } }) => {
  const [email, { breaches: findings }] = await Promise.all([
    emails.get(org, id, async (row) => {
      const [view, owner] = await Promise.all([viewOf(org, row), stateOf(org, row)]);
      return { ...view, owner };
    }),
    detailed.list(org, { emailId: id, limit: mostFindings, offset: 0 }),
  ]);
  return { ...email, findings };
});
