/** An oracle of rules that shares no code with them: written from docs/rules.md, by names of data classes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The table of docs/severity.md: data class in lower case → its level. */
const levels: ReadonlyMap<string, string> = new Map(
  readFileSync(join(import.meta.dirname, "../docs/severity.md"), "utf8")
    .split("\n")
    .flatMap((line) => {
      const [, level, names] = /^\| (high|medium|low) \| ([^|]+) \|/.exec(line) ?? [];
      return (names ?? "").split(", ").map((name): [string, string] => [name.toLowerCase(), level ?? ""]);
    }),
);

const kin = [
  "passwords",
  "historical passwords",
  "password hints",
  "security questions and answers",
  "auth tokens",
];

export type Case = {
  leftAt?: string | undefined;
  passwordChangedAt?: string | undefined;
  breachDate: string;
  dataClasses: readonly string[];
  isStealerLog: boolean;
  isMalware: boolean;
  severity: string;
  isSpamList: boolean;
  isFabricated: boolean;
};

const millisecondsOfDay = 24 * 60 * 60 * 1000;

/** Whether a rule may end a finding, by the words of the table. */
export const mayEnd: Record<string, (of: Case, now: number) => boolean> = {
  left: ({ leftAt }) => leftAt !== undefined,
  password_changed: (of, now) => {
    if (of.passwordChangedAt === undefined || of.isStealerLog || of.isMalware) return false;
    if (of.breachDate === "1970-01-01") return false;
    const [year = 0, month = 1, day = 1] = of.breachDate.split("-").map(Number);
    const changed = new Date(of.passwordChangedAt).getTime();
    if (changed <= Date.UTC(year, month - 1, day + 30) || changed > now + millisecondsOfDay) return false;
    const names = of.dataClasses.map((name) => name.toLowerCase());
    const isKin = (name: string): boolean => kin.includes(name);
    return names.some(isKin) && names.every((name) => isKin(name) || levels.get(name) === "low");
  },
  harmless: (of) => of.severity === "low" && (of.dataClasses.length > 0 || of.isSpamList || of.isFabricated),
};
