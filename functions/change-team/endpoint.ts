import * as z from "zod/mini";
import { teamName } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { notEmpty } from "../../shared/contract/patch.ts";

export const changeTeam = defineEndpoint({
  summary: "Rename a team",
  access: "admin",
  path: byId,
  body: z.object({ name: z.optional(teamName) }).check(notEmpty),
  refusals: ["teamNotFound", "teamExists"],
  uses: ["table:read", "table:write"],
});
