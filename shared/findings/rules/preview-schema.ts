import * as z from "zod/mini";
import { count } from "../../contract/page.ts";
import { detailedFinding } from "../finding-schema.ts";

export const rulePreview = z
  .object({
    open: count.check(z.meta({ description: "Open findings of the organization" })),
    wouldEnd: count.check(z.meta({ description: "Those of them that the rule would end now" })),
    examples: z
      .array(detailedFinding)
      .check(z.meta({ description: "The newest of these, at most 5, as they are now" })),
  })
  .check(z.meta({ id: "RulePreview" }));
export type RulePreview = z.infer<typeof rulePreview>;
