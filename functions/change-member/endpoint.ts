import * as z from "zod/mini";
import { personName, role } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { notEmpty } from "../../shared/contract/patch.ts";

export const changeMember = defineEndpoint({
  summary: "Change a member's role or name",
  access: "admin",
  path: z.object({ id: idParameter("id") }),
  body: z.object({ role: z.optional(role), name: z.optional(z.nullable(personName)) }).check(notEmpty),
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: ["memberNotFound", "lastAdmin"],
  uses: ["table:read", "table:write", "table:write:identities"],
});
