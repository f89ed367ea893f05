import * as z from "zod/mini";
import { team, teamName } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const createTeam = defineEndpoint({
  summary: "Create a team",
  access: "admin",
  body: z.object({ name: teamName }),
  status: 201,
  reply: team,
  refusals: ["teamExists"],
  uses: ["table:read", "table:write"],
});
