import { serve } from "../../shared/access/api/serve.ts";
import { commit } from "../../shared/monitoring/imports/commit.ts";
import { commitImport } from "./endpoint.ts";

export const handler = serve(commitImport, async ({ org, actor, body }) => ({
  success: true,
  ...(await commit(org, body, actor)),
}));
