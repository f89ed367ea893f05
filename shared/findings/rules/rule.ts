/**
 * Rules that end findings where nothing is left to do. A finding's state follows from its facts alone, so that
 * any order in which facts come leads to the same. docs/rules.md has the table.
 */
import { unknownDate } from "../../contract/unknown-date.ts";
import type { Breach } from "../../hibp/breach.ts";
import { levelOf, levelOfClass, worstFirst } from "../../hibp/severity.ts";
import type { Person } from "../../monitoring/emails/record.ts";
import type { Resolution } from "../finding-schema.ts";
import { type RuleId, rulesInOrder } from "./rule-schema.ts";

type Flag = "isStealerLog" | "isMalware" | "isSpamList" | "isFabricated" | "isVerified";

/** What rules read. `person`: undefined where no directory names the address. */
export type Facts = {
  person: Pick<Person, "name" | "directory" | "leftAt" | "passwordChangedAt"> | undefined;
  breach: Pick<Breach, "breachDate" | "dataClasses" | "severity" | Flag>;
};

/** The attributes of an e-mail's row that decide, for the condition that they are still as they were read. */
export const factsOf = ({ person }: { person?: Person | undefined }): Record<string, string | undefined> => ({
  "person.leftAt": person?.leftAt,
  "person.passwordChangedAt": person?.passwordChangedAt,
});

/** As what a rule ends a finding. `fact`: the reason, in a sentence for people. */
export type Ending = { rule: RuleId; resolution: Resolution; fact: string };

/** `ended`: by a rule. `theirs`: a person has acknowledged or reopened it. */
export type State = { is: "open" } | { is: "ended"; rule: RuleId } | { is: "theirs" };

/** What becomes of a finding: nothing, a rule ends it or takes it over, or it is open again. */
export type Verdict = { is: "kept" } | { is: "ended"; ending: Ending } | { is: "reopened"; rule: RuleId };

const dayMilliseconds = 86_400_000;

/** HIBP's dates of breaches are approximate. */
const approximateDays = 30;

/** A password that was changed later than tomorrow was not changed: a directory may send the day that it expires. */
const clockMilliseconds = dayMilliseconds;

/** Passwords, and what a change of the password makes worthless. In lower case. */
const passwordAndKin = new Set([
  "passwords",
  "historical passwords",
  "password hints",
  "security questions and answers",
  "auth tokens",
]);

const isKin = (dataClass: string): boolean => passwordAndKin.has(dataClass.trim().toLowerCase());
const isAboveLow = (dataClass: string): boolean => levelOfClass(dataClass) > levelOf("low");

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `3 Nov 2026`, in UTC. */
const dateInWords = (at: number): string => {
  const date = new Date(at);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
};

const holdsFor: Record<RuleId, (facts: Facts, now: Date) => Omit<Ending, "rule"> | undefined> = {
  left: ({ person }) => {
    const at = Date.parse(person?.leftAt ?? "");
    if (person === undefined || Number.isNaN(at)) return undefined;
    return {
      resolution: "ignored",
      fact: `${person.name || "The person"} left (${person.directory}, ${dateInWords(at)})`,
    };
  },
  password_changed: ({ person, breach }, now) => {
    const at = Date.parse(person?.passwordChangedAt ?? "");
    const { breachDate, dataClasses, isStealerLog, isMalware } = breach;
    if (breachDate === unknownDate || isStealerLog || isMalware) return undefined;
    // False where one of the dates is not valid, too.
    const isAfter = at - Date.parse(`${breachDate}T00:00:00Z`) > approximateDays * dayMilliseconds;
    if (!isAfter || at > now.getTime() + clockMilliseconds) return undefined;
    const isPasswordAlone = dataClasses.some(isKin) && dataClasses.filter(isAboveLow).every(isKin);
    if (!isPasswordAlone) return undefined;
    return {
      resolution: "handled",
      fact: `Password changed on ${dateInWords(at)}, after the breach`,
    };
  },
  harmless: ({ breach }) => {
    const reason = whyLow(breach);
    // A breach that HIBP has not described yet is low, too.
    return breach.severity === "low" && reason !== undefined
      ? { resolution: "ignored", fact: `Low severity: ${reason}` }
      : undefined;
  },
};

/** How many data classes a sentence names. */
const maximumNamed = 5;

/** Undefined: nothing is known of the breach. */
const whyLow = ({
  dataClasses,
  isSpamList,
  isFabricated,
  isVerified,
}: Facts["breach"]): string | undefined => {
  if (isSpamList) return "a list of addresses for spam";
  if (isFabricated) return "the breach is fabricated";
  if (dataClasses.length === 0) return undefined;
  const named = worstFirst(dataClasses).slice(0, maximumNamed);
  const more = dataClasses.length - named.length;
  return `${named.join(", ")}${more > 0 ? ` and ${more} more` : ""}${isVerified ? "" : ", not verified"}`;
};

/** How a rule ends a finding with these facts; undefined where it does not hold. */
export const holds = (rule: RuleId, facts: Facts, now: Date): Ending | undefined => {
  const ending = holdsFor[rule](facts, now);
  return ending && { rule, ...ending };
};

/** The first rule that is on and holds; undefined without any. */
export const firstHolding = (facts: Facts, isOn: ReadonlySet<RuleId>, now: Date): Ending | undefined => {
  for (const rule of rulesInOrder) {
    const ending = isOn.has(rule) ? holds(rule, facts, now) : undefined;
    if (ending !== undefined) return ending;
  }
  return undefined;
};

/**
 * What becomes of a finding. A rule that has ended it stays while it holds; then the next one that holds takes
 * its place. A rule that is off reopens nothing.
 */
export const judge = (state: State, facts: Facts, isOn: ReadonlySet<RuleId>, now: Date): Verdict => {
  if (state.is === "theirs") return { is: "kept" };
  if (state.is === "ended" && (!isOn.has(state.rule) || holds(state.rule, facts, now) !== undefined))
    return { is: "kept" };
  const ending = firstHolding(facts, isOn, now);
  if (ending !== undefined) return { is: "ended", ending };
  return state.is === "ended" ? { is: "reopened", rule: state.rule } : { is: "kept" };
};
