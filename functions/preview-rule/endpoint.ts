import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { rulePreview } from "../../shared/findings/rules/preview-schema.ts";
import { byRule } from "../../shared/findings/rules/rule-schema.ts";

export const previewRule = defineEndpoint({
  summary: "Count what a rule would end, without ending anything",
  description:
    "It looks at all open findings that the rule may end, so that it takes some seconds where there are many.",
  access: "user",
  path: byRule,
  malformed: { id: "ruleNotFound" },
  reply: rulePreview,
  refusals: ["ruleNotFound"],
  uses: ["table:read"],
  timeoutSeconds: 29,
});
