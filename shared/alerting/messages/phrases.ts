/** Pieces of sentences. Text from Have I Been Pwned and from users becomes single lines of limited length here. */
import { adviceOf } from "../../hibp/advice.ts";
import type { Breach } from "../../hibp/breach.ts";
import { worstFirst } from "../../hibp/severity.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import { asLine } from "../kinds/as-line.ts";

export const maximumAddress = 254;
export const maximumTitle = 200;
const maximumTitleInSubject = 50;
const maximumClassInSubject = 35;
export const maximumDetail = 1000;

/** "Critical: ", which stands first, so that nobody needs the color. */
export const inWords = (severity: Severity | undefined): string =>
  severity === undefined ? "" : `${severity.charAt(0).toUpperCase()}${severity.slice(1)}: `;

/** A title as it is in subjects and headlines. */
export const shortTitle = (title: string): string => asLine(title, maximumTitleInSubject);

/** What leaked in which breach from how many people: "PayrollPro, passwords of 212 people". */
export const subjectOf = (
  { title, dataClasses }: Pick<Breach, "title" | "dataClasses">,
  more: number,
  people: string,
): string => {
  const [worst] = worstFirst(dataClasses);
  const what = worst === undefined ? "data" : asLine(worst, maximumClassInSubject);
  return `${shortTitle(title)}${andMore(more)}, ${lowerCase(what)} of ${people}`;
};

export const andMore = (more: number): string => (more === 0 ? "" : ` and ${shown(more)} more`);

/** "Passwords" is "passwords" within a sentence, and "IP addresses" stays. */
const lowerCase = (text: string): string =>
  /^\p{Lu}\p{Ll}/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** What to do first about a breach; nothing if it is not known which one it is. */
export const firstStepFor = (breach: Breach | undefined): string[] => {
  const [first] = breach === undefined ? [] : adviceOf(breach);
  return first?.steps.slice(0, 1) ?? [];
};

/** What to do first about the worst breach, in two lines. */
export const adviceFor = (worst: Breach | undefined): string =>
  [...firstStepFor(worst), "Acknowledge each finding once it is handled."].join("\n");

export const exposedIn = (dataClasses: readonly string[]): string =>
  dataClasses.length === 0
    ? "It is not known what was exposed."
    : asLine(`Exposed: ${worstFirst(dataClasses).join(", ")}`, maximumDetail);

/** Names of threads. Of several breaches none is one. */
export const threadsOf = (breaches: readonly Breach[], scanId: number | undefined): string[] => [
  ...(breaches.length === 1 ? [`breach-${breaches[0]?.id}`] : []),
  ...(scanId === undefined ? [] : [`scan-${scanId}`]),
];

/** The websites whose logins a stealer log has. */
export const stolenFor = (websites: readonly string[] = []): string[] =>
  websites.length === 0 ? [] : [asLine(`Logins stolen for: ${websites.join(", ")}`, maximumDetail)];

export const shown = (count: number): string => count.toLocaleString("en-US");

export const counted = (count: number, one: string, many: string): string =>
  `${shown(count)} ${count === 1 ? one : many}`;

/** `isPart`: there are at least as many. */
export const peopleOf = (count: number, { isPart = false }: { isPart?: boolean } = {}): string =>
  (isPart ? "at least " : "") + counted(count, "person", "people");

/** "a data breach", or how many. */
export const breachesInWords = (count: number): string =>
  count === 1 ? "a data breach" : `${shown(count)} data breaches`;

/** Addresses that nobody watches. `isAtMost`: several scans found them, and some may count twice. */
export const unwatchedOf = (count: number, { isAtMost = false }: { isAtMost?: boolean } = {}): string =>
  `${isAtMost ? "up to " : ""}${counted(count, "address", "addresses")} that nobody watches`;

/** The list of these addresses; with `breachId` only of those in one breach. */
export const unwatchedUrl = (dashboardUrl: string, breachId: number | undefined): string =>
  `${dashboardUrl}/domains/unwatched?${breachId === undefined ? "order=newest" : `breachId=${breachId}`}`;
