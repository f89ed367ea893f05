import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField, idParameter } from "../../shared/contract/page.ts";
import { notEmpty } from "../../shared/contract/patch.ts";
import { ownerName } from "../../shared/monitoring/emails/email-schema.ts";

export const assignEmail = defineEndpoint({
  summary: "Change a monitored e-mail's team or owner",
  access: "user",
  path: z.object({ id: idParameter("id") }),
  body: z
    .object({
      teamId: z.optional(z.nullable(idField)).check(z.meta({ description: "null: no team" })),
      ownerName: z.optional(z.nullable(ownerName)),
    })
    .check(notEmpty),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["emailNotFound", "teamNotFound"],
  uses: ["table:read", "table:write"],
});
