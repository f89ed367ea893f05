import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, idField } from "../../shared/contract/page.ts";
import { triage } from "../../shared/findings/breach-schema.ts";

export const assignBreach = defineEndpoint({
  summary: "Say which member has a breach in hand",
  description:
    "Nobody is told by e-mail. A member who is removed from the organization is no assignee any more.",
  access: "user",
  path: byId,
  body: z.object({
    userId: z.nullable(idField).check(z.meta({ description: "The id of a member; null: nobody" })),
    replaces: z.optional(z.nullable(idField)).check(
      z.meta({
        description:
          "The assignee whom the caller saw, null for nobody: if there is another one meanwhile, the request is " +
          "refused. Absent: whoever it is",
      }),
    ),
  }),
  reply: z.object({ assignee: triage.assignee }),
  refusals: ["breachNotFound", "memberNotFound", "assigneeChanged"],
  uses: ["table:read", "table:write"],
});
