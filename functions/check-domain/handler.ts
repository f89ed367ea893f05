import { serve } from "../../shared/access/api/serve.ts";
import { check } from "../../shared/monitoring/domains/proof.ts";
import { wake } from "../../shared/people/follow/task.ts";
import { checkDomain } from "./endpoint.ts";

export const handler = serve(checkDomain, async ({ org, actor, path }) => {
  const checked = await check(org, path.id, actor);
  // People of directories may have addresses of the domain.
  if (checked.isVerified) await wake(org);
  return checked;
});
