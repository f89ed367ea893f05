import { scimUrlOf } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as directories from "../../shared/people/directory.ts";
import { listDirectories } from "./endpoint.ts";

export const handler = serve(listDirectories, async ({ org, session, event }) => {
  const isAdmin = session.role === "admin";
  const { directories: all, ...counted } = await directories.list(org);
  const shown = all.map((each) => ({ ...each, ...(isAdmin && { url: scimUrlOf(event) }) }));
  return { directories: shown, ...counted };
});
