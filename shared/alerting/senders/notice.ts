/**
 * An event in words for people. Slack and e-mail show the same notice, each in its own format and with its
 * own escaping. Text from Have I Been Pwned and from users is reduced to single lines of limited length here.
 */
import { buttonColor, type Link } from "../../aws/mail/html.ts";
import { unknownDate } from "../../contract/unknown-date.ts";
import { inBothForms } from "../../monitoring/domains/written-name.ts";
import { levelOf, worstFirst } from "../../monitoring/hibp/severity.ts";
import type { Severity } from "../../monitoring/hibp/severity-schema.ts";
import type { Event } from "./envelope.ts";
import type { ExposedEmail, Exposure, Report } from "./report.ts";

export type Notice = {
  /** Of the worst breach; the headline says it in words. */
  severity?: Severity | undefined;
  /** Names of what further messages may be about too, the breach before the scan: letters, digits and hyphens. */
  threads: string[];
  /** One line that is understood without the rest, such as a subject. */
  summary: string;
  /** At most 100 characters. */
  headline: string;
  lead: string;
  /** Whose address it is. */
  facts: { label: string; value: string }[];
  /** One entry per breach. */
  items: { title: string; details: string[]; url: string | undefined }[];
  /** At most two lines; to an owner what to do, a line for each step. */
  advice: string | undefined;
  /** The page of the dashboard to go to. */
  link: Link | undefined;
  organizationName: string;
};

export type NoticeContext = {
  organizationName: string;
  /** The url of the dashboard's page, without a slash at its end. Undefined: the notice has no links to it. */
  dashboardUrl?: string | undefined;
};

/** Required by CC BY 4.0, under which Have I Been Pwned licenses its breach data. */
export const attribution = {
  source: { label: "Have I Been Pwned", url: "https://haveibeenpwned.com" },
  license: { label: "CC BY 4.0", url: "https://creativecommons.org/licenses/by/4.0/" },
} as const;

/** Limits in characters for text from upstream and from users. */
export const maximumOrganization = 100;
const maximumAddress = 254;
export const maximumBothForms = 2 * maximumAddress + 3;
const maximumAddressInHeadline = 60;
export const maximumOrganizationInSubject = 60;
export const maximumTitleInSubject = 50;
const maximumClassInSubject = 35;
const maximumName = 200;
const maximumTitle = 200;
const maximumDomain = 253;
const maximumDetail = 1000;
const maximumHeadline = 100;

export const noticeOf = (report: Report, { organizationName, dashboardUrl }: NoticeContext): Notice => {
  const name = asLine(organizationName, maximumOrganization);
  const { subject, ...words } = wordsFor(report, dashboardUrl);
  const summary =
    subject === undefined
      ? `${words.headline} (${name})`
      : `${subject} at ${asLine(organizationName, maximumOrganizationInSubject)}`;
  const breachIds =
    report.event.type === "breach" ? report.event.data.breaches.map((each) => each.breachId) : [];
  return { summary, organizationName: name, threads: threadsOf(breachIds, report.scanId), ...words };
};

/** Of several breaches none is a thread. */
export const threadsOf = (breachIds: readonly number[], scanId: number | undefined): string[] => [
  ...(breachIds.length === 1 ? [`breach-${breachIds[0]}`] : []),
  ...(scanId === undefined ? [] : [`scan-${scanId}`]),
];

/** `subject`: the beginning of the summary, which ends with the organization. */
type Words = Omit<Notice, "summary" | "organizationName" | "threads"> & { subject?: string };

/** With `none` for what has no severity. */
export const severityColors = {
  critical: "#b3001b",
  high: "#d9480f",
  medium: "#e0a100",
  low: "#5f6b7a",
  none: buttonColor,
} as const;

const wordsFor = ({ event, exposure, scanId }: Report, dashboardUrl: string | undefined): Words => {
  const bare = {
    facts: [],
    items: [],
    advice: undefined,
    link: linkTo(dashboardUrl, "/scans", "See the scans"),
  };
  switch (event.type) {
    case "breach":
      return wordsForBreaches(event.data.breaches, exposure, dashboardUrl);
    case "scan_complete": {
      const { scannedCount, totalEmails, newBreachCount, failedCount } = event.data;
      return {
        ...bare,
        headline:
          failedCount > 0
            ? `A scan checked ${shown(scannedCount)} of ${shown(totalEmails)} addresses`
            : "A scan is complete",
        lead:
          `Checked ${shown(scannedCount)} of ${shown(totalEmails)} monitored e-mail addresses. ` +
          `New findings: ${shown(newBreachCount)}. Addresses that could not be checked: ${shown(failedCount)}.`,
      };
    }
    case "scan_error":
      return {
        ...bare,
        // Of channels, domains, and the plan the overview tells more.
        ...(scanId === undefined && { link: linkTo(dashboardUrl, "/", "See the overview") }),
        ...wordsForError(asLine(event.data.error, maximumDetail)),
      };
  }
};

/** The headline is the error up to its first colon or full stop, or its beginning if there is none near enough. */
const wordsForError = (error: string): Pick<Words, "headline" | "lead"> => {
  const [, headline, rest = ""] = /^(.{1,100}?)[:.] (.+?)\.?$/.exec(error) ?? [];
  return headline === undefined
    ? { headline: asLine(error.replace(/\.$/, ""), maximumHeadline), lead: error }
    : { headline, lead: `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.` };
};

type Breach = Extract<Event, { type: "breach" }>["data"]["breaches"][number];

const wordsForBreaches = (
  breaches: readonly Breach[],
  exposure: Exposure | undefined,
  dashboardUrl: string | undefined,
): Words => {
  const one = breaches.length === 1;
  const howMany = breachesInWords(breaches.length);
  const found = `was found in ${howMany} that ${one ? "was" : "were"} not known before.`;
  const severityIn = ({ breachId }: Breach) => exposure?.findings.get(breachId)?.severity;
  const levelIn = (breach: Breach): number => levelOf(severityIn(breach) ?? "low");
  const sorted = breaches.toSorted((one, other) => levelIn(other) - levelIn(one));
  const [worst] = sorted;
  const severity = worst && severityIn(worst);
  const items = sorted.map((breach) => itemOf(breach, exposure, dashboardUrl));
  const email = exposure?.email;
  if (email === undefined) {
    return {
      severity,
      headline: `${inWords(severity)}An address that is no longer monitored appeared in ${howMany}`,
      lead: `An address that is no longer monitored ${found} Its findings were deleted when it was removed.`,
      facts: [],
      items,
      advice: undefined,
      link: undefined,
    };
  }
  return {
    severity,
    ...(worst && { subject: inWords(severity) + subjectOf(worst, sorted.length - 1, "1 person") }),
    headline: `${inWords(severity)}${shortened(email.address)} appeared in ${howMany}`,
    lead: `This monitored e-mail address ${found}`,
    facts: factsOf(email),
    items,
    advice: adviceFor(worst && exposure?.findings.get(worst.breachId)?.advice),
    link: linkTo(dashboardUrl, findingsOf(email), "See the findings of this address"),
  };
};

/** "Critical: ", which stands first, so that nobody needs the color. */
export const inWords = (severity: Severity | undefined): string =>
  severity === undefined ? "" : `${severity.charAt(0).toUpperCase()}${severity.slice(1)}: `;

/** What leaked in which breach from how many people: "PayrollPro, passwords of 212 people". */
export const subjectOf = (
  { title, dataClasses }: Pick<Breach, "title" | "dataClasses">,
  others: number,
  people: string,
): string => {
  const name = asLine(title, maximumTitleInSubject);
  const more = others === 0 ? "" : ` and ${shown(others)} more`;
  const [worst] = worstFirst(dataClasses);
  const what = worst === undefined ? "data" : asLine(worst, maximumClassInSubject);
  return `${name}${more}, ${lowerCase(what)} of ${people}`;
};

/** "Passwords" is "passwords" within a sentence, and "IP addresses" stays. */
const lowerCase = (text: string): string =>
  /^\p{Lu}\p{Ll}/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** What to do first, in two lines. */
export const adviceFor = (steps: readonly string[] = []): string =>
  [steps[0], "Acknowledge each finding once it is handled."].filter((line) => line !== undefined).join("\n");

const itemOf = (
  breach: Breach,
  exposure: Exposure | undefined,
  dashboardUrl: string | undefined,
): Notice["items"][number] => {
  const finding = exposure?.findings.get(breach.breachId);
  const path = exposure?.email && finding && `${findingsOf(exposure.email)}&finding=${finding.id}`;
  return {
    ...breachInWords({ ...breach, ...finding }),
    url: path === undefined || dashboardUrl === undefined ? undefined : dashboardUrl + path,
  };
};

/** What is known of a breach. */
export const breachInWords = ({
  title,
  domain,
  severity,
  breachDate,
  dataClasses,
  stealerLogDomains,
}: Pick<Breach, "title" | "domain" | "dataClasses"> & {
  severity?: Severity;
  breachDate?: string;
  stealerLogDomains?: readonly string[] | undefined;
}) => ({
  title: [
    asLine(title, maximumTitle) + (domain === "" ? "" : ` (${asLine(domain, maximumDomain)})`),
    ...(severity === undefined ? [] : [severity]),
  ].join(" · "),
  details: [...dateOf(breachDate), exposedIn(dataClasses), ...stolenFor(stealerLogDomains)],
});

const factsOf = ({ address, ownerName, teamName }: ExposedEmail): Notice["facts"] =>
  [
    { label: "Address", value: asLine(inBothForms(address), maximumBothForms) },
    { label: "Owner", value: ownerName === null ? "" : asLine(ownerName, maximumName, "") },
    { label: "Team", value: teamName === null ? "" : asLine(teamName, maximumName, "") },
  ].filter(({ value }) => value !== "");

const dateOf = (breachDate = unknownDate): string[] =>
  breachDate === unknownDate ? [] : [`Date of the breach: ${asLine(breachDate, maximumName)}`];

export const exposedIn = (dataClasses: readonly string[]): string =>
  dataClasses.length === 0
    ? "It is not known what was exposed."
    : asLine(`Exposed: ${worstFirst(dataClasses).join(", ")}`, maximumDetail);

/** The websites whose logins a stealer log has. */
export const stolenFor = (websites: readonly string[] = []): string[] =>
  websites.length === 0 ? [] : [asLine(`Logins stolen for: ${websites.join(", ")}`, maximumDetail)];

const findingsOf = ({ id }: ExposedEmail): string => `/findings?emailId=${id}`;

export const linkTo = (dashboardUrl: string | undefined, path: string, label: string): Link | undefined =>
  dashboardUrl === undefined ? undefined : { label, url: dashboardUrl + path };

export const shown = (count: number): string => count.toLocaleString("en-US");

export const counted = (count: number, one: string, many: string): string =>
  `${shown(count)} ${count === 1 ? one : many}`;

/** "a data breach", or how many. */
export const breachesInWords = (count: number): string =>
  count === 1 ? "a data breach" : `${shown(count)} data breaches`;

/** An address with both its ends, since its domain is at the end. */
const shortened = (address: string): string => {
  const characters = [...asLine(address, maximumAddress)];
  if (characters.length <= maximumAddressInHeadline) return characters.join("");
  const half = maximumAddressInHeadline / 2;
  return `${characters.slice(0, half - 1).join("")}…${characters.slice(-half).join("")}`;
};

/** One line of at most `maximum` characters, without characters that hide or reorder the text around them. */
export const asLine = (text: string, maximum: number, ifEmpty = "(no text)"): string => {
  const line = text
    .toWellFormed()
    // All format characters except the joiner and non-joiner, which some scripts and emoji need.
    .replace(/[^\P{Cf}\u200c\u200d]/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  // Slack refuses empty texts; joiners alone show nothing.
  if (/^(?:\u200c|\u200d|\s)*$/u.test(line)) return ifEmpty;
  const characters = [...line];
  return characters.length <= maximum ? line : `${characters.slice(0, maximum - 1).join("")}…`;
};
