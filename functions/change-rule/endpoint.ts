import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byRule, rule } from "../../shared/findings/rules/rule-schema.ts";

export const changeRule = defineEndpoint({
  summary: "Switch a rule on or off",
  description:
    "A rule that is switched on ends the open findings for which it holds, in the background, and those " +
    "to come. Switched off, it ends nothing more and reopens nothing. The log has an entry for the switch, and " +
    "one for all findings that the rule ends then.",
  access: "admin",
  path: byRule,
  malformed: { id: "ruleNotFound" },
  body: z.object({ isOn: rule.shape.isOn }),
  status: 202,
  reply: z.object({ id: rule.shape.id, isOn: rule.shape.isOn, changedAt: rule.shape.changedAt }),
  refusals: ["ruleNotFound"],
  uses: ["table:read", "table:write", "queue:acknowledgements"],
});
