import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { notEmpty } from "../../shared/contract/patch.ts";
import { assignment } from "../../shared/monitoring/emails/email-schema.ts";

export const assignEmail = defineEndpoint({
  summary: "Change a monitored e-mail's team or owner",
  access: "user",
  path: byId,
  body: z.object(assignment).check(notEmpty),
  refusals: ["emailNotFound", "teamNotFound"],
  uses: ["table:read", "table:write"],
});
