import { scimUrlOf } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as directories from "../../shared/people/directory.ts";
import { connectDirectory } from "./endpoint.ts";

export const handler = serve(connectDirectory, async ({ org, actor, body, event }) => ({
  ...(await directories.connect(org, body.name, actor)),
  url: scimUrlOf(event),
}));
