import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { team, teamName } from "../../shared/organizations/schema.ts";

export const createTeam = defineEndpoint({
  summary: "Create a team",
  access: "admin",
  body: z.object({ name: teamName }),
  status: 201,
  reply: team,
  refusals: ["teamExists"],
  uses: ["table:read", "table:write"],
});
