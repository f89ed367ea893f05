import * as z from "zod/mini";

/** The rules that there are. Where several hold, the first one ends a finding. */
export const rulesInOrder = ["left", "password_changed", "harmless"] as const;

export const ruleId = z.enum(rulesInOrder);
export type RuleId = z.infer<typeof ruleId>;

/** Who ended a finding: people (also by API keys and commands), or a rule. No finding is `answered` yet. */
export const enders = ["person", ...rulesInOrder, "answered"] as const;
export type Ender = (typeof enders)[number];
