import * as z from "zod/mini";
import { member } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listMembers = defineEndpoint({
  summary: "List the members, newest first",
  access: "user",
  query: z.object(pageQuery),
  reply: z.object({ members: z.array(member), total }),
  uses: ["table:read"],
});
