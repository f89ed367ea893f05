import { serve } from "../../shared/access/api/serve.ts";
import * as directories from "../../shared/people/directory.ts";
import { disconnectDirectory } from "./endpoint.ts";

export const handler = serve(disconnectDirectory, ({ org, actor, path: { id } }) =>
  directories.disconnect(org, id, actor),
);
