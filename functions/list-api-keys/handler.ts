import { serve } from "../../shared/api/serve.ts";
import { pageOf } from "../../shared/lists/short-list.ts";
import * as apiKeys from "../../shared/organizations/api-key.ts";
import { listApiKeys } from "./endpoint.ts";

export const handler = serve(listApiKeys, async ({ org, query }) => {
  const { items, total } = pageOf(await apiKeys.list(org), query);
  return { apiKeys: items, total };
});
