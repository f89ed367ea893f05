import { serve } from "../../shared/access/api/serve.ts";
import * as directories from "../../shared/people/directory.ts";
import { getDirectory } from "./endpoint.ts";

export const handler = serve(getDirectory, ({ org, path: { id } }) => directories.unusableOf(org, id));
