import * as z from "zod/mini";
import { passkey, session } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listSessions = defineEndpoint({
  summary: "List the user's own sessions in this organization, newest first, and passkeys",
  access: "user",
  query: z.object(pageQuery),
  reply: z.object({ sessions: z.array(session), total, passkeys: z.array(passkey) }),
  uses: ["table:read"],
});
