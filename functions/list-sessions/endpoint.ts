import * as z from "zod/mini";
import { session } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listSessions = defineEndpoint({
  summary: "List the user's own sessions in this organization, newest first",
  access: "user",
  query: z.object(pageQuery),
  reply: z.object({ sessions: z.array(session), total }),
  uses: ["table:read"],
});
