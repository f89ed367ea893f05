import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import { pageOf } from "../../shared/contract/page.ts";
import { listApiKeys } from "./endpoint.ts";

export const handler = serve(listApiKeys, async ({ org, query }) => {
  const { items, total } = pageOf(await apiKeys.list(org), query);
  return { apiKeys: items, total };
});
