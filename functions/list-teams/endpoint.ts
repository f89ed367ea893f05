import * as z from "zod/mini";
import { team } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listTeams = defineEndpoint({
  summary: "List the teams, newest first",
  access: "user",
  query: z.object(pageQuery),
  reply: z.object({ teams: z.array(team), total }),
  uses: ["table:read"],
});
