/** Rules that end findings, in words. */
import type { Input, Rule } from "../api/routes.ts";

/** Who or what has ended a finding. */
export type Ender = NonNullable<
  NonNullable<Input<"POST /v1/breaches/reopenings">["body"]["filter"]>["endedBy"]
>;

export const ruleNames: Readonly<Record<Rule["id"], string>> = {
  left: "Left the company",
  password_changed: "Password changed",
  harmless: "Low severity",
};

/** By whom a finding may be ended. */
const enderNames = { person: "People", ...ruleNames };

/** What the filter of a list offers. */
export const enderChoices = Object.entries(enderNames).map(([value, label]) => ({ value, label }));

/** The end of a sentence about findings. */
export const endedInWords = (ender: string): string =>
  `ended by ${enderNames[ender as keyof typeof enderNames]}`;
