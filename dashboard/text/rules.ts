/** Rules that end findings, in words. */
import type { Finding, Input, Rule } from "../api/routes.ts";

/** Who or what has ended a finding. */
export type Ender = NonNullable<
  NonNullable<Input<"POST /v1/breaches/reopenings">["body"]["filter"]>["endedBy"]
>;

type Words = {
  name: string;
  /** What the rule ends, and as what. */
  about: string;
};

export const rules: Readonly<Record<Rule["id"], Words>> = {
  left: {
    name: "Left the company",
    about:
      "Ends, as ignored, all findings of people who left: every directory that named the address says that " +
      "the person is inactive or deleted.",
  },
  password_changed: {
    name: "Password changed",
    about:
      "Ends, as handled, findings of people who changed their password more than 30 days after the breach, " +
      "where nothing worse leaked than passwords and what goes with them. Never those of stealer logs or malware.",
  },
  harmless: {
    name: "Low severity",
    about:
      "Ends, as ignored, findings of low severity: spam lists, and breaches of names and profiles alone.",
  },
};

export const rulesInOrder = ["left", "password_changed", "harmless"] as const;

/** `answered`: there is no such rule yet. */
export const nameOfRule = (rule: NonNullable<Finding["endedBy"]>["rule"]): string =>
  rule === "answered" ? "Answered" : rules[rule].name;

/** What the filter of a list offers. */
export const enderChoices = [
  { value: "person", label: "People" },
  ...Object.entries(rules).map(([value, { name }]) => ({ value, label: `Rule: ${name}` })),
];

/** The end of a sentence about findings. */
export const endedInWords = (ender: string): string => {
  const rule = Object.entries(rules).find(([id]) => id === ender)?.[1];
  return rule === undefined ? "acknowledged by people" : `ended by the rule "${rule.name}"`;
};
