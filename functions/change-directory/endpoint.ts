import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { directoryChange, token } from "../../shared/people/directory-schema.ts";

export const changeDirectory = defineEndpoint({
  summary: "Rename a directory, say where teams come from, or replace its token",
  access: "admin",
  path: byId,
  body: directoryChange,
  reply: z.object({ success: z.boolean(), token: z.optional(token) }),
  refusals: ["directoryNotFound"],
  limit: "apiKeys",
  uses: ["table:read", "table:write", "table:write:directories", "queue:directory-changes"],
});
