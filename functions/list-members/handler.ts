import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import { pageOf } from "../../shared/contract/page.ts";
import { listMembers } from "./endpoint.ts";

export const handler = serve(listMembers, async ({ org, query }) => {
  const { items, total } = pageOf(await users.list(org), query);
  return { members: items.map(users.shown), total };
});
