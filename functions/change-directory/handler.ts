import { serve } from "../../shared/access/api/serve.ts";
import * as directories from "../../shared/people/directory.ts";
import { changeDirectory } from "./endpoint.ts";

export const handler = serve(changeDirectory, async ({ org, actor, path: { id }, body }) => ({
  success: true,
  ...(await directories.change(org, id, body, actor)),
}));
