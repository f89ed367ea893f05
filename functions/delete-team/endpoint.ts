import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const deleteTeam = defineEndpoint({
  summary: "Delete a team",
  description: "Its e-mails stay, without a team.",
  access: "admin",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["teamNotFound"],
  uses: ["table:read", "table:write"],
});
