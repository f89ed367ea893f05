import { serve } from "../../shared/api/serve.ts";
import { pageOf } from "../../shared/lists/short-list.ts";
import * as users from "../../shared/organizations/user.ts";
import { listMembers } from "./endpoint.ts";

export const handler = serve(listMembers, async ({ org, query }) => {
  const { items, total } = pageOf(await users.list(org), query);
  return { members: items.map(users.shown), total };
});
