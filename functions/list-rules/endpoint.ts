import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { rule } from "../../shared/findings/rules/rule-schema.ts";

export const listRules = defineEndpoint({
  summary: "List the rules that end findings where nothing is left to do",
  description: "Each is off until an admin switches it on.",
  access: "user",
  reply: z.object({ rules: z.array(rule) }),
  uses: ["table:read"],
});
