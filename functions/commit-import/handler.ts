import { serve } from "../../shared/api/serve.ts";
import { commit } from "../../shared/imports/commit.ts";
import { commitImport } from "./endpoint.ts";

export const handler = serve(commitImport, async ({ org, actor, body }) => ({
  success: true,
  ...(await commit(org, body, actor)),
}));
