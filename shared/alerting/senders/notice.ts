/**
 * An event in words for people. Slack and e-mail show the same notice, each in its own format and with its
 * own escaping. Text from Have I Been Pwned and from users is reduced to single lines of limited length here.
 */
import { unknownDate } from "../../contract/unknown-date.ts";
import { inBothForms } from "../../monitoring/domains/written-name.ts";
import type { Event } from "./envelope.ts";
import type { ExposedEmail, Exposure, Report } from "./report.ts";

export type Notice = {
  /** One line that is understood without the rest, such as a subject. */
  summary: string;
  /** At most 100 characters. */
  headline: string;
  lead: string;
  /** Whose address it is. */
  facts: { label: string; value: string }[];
  /** One entry per breach. */
  items: { title: string; details: string[]; url: string | undefined }[];
  advice: string | undefined;
  /** The page of the dashboard to go to. */
  link: Link | undefined;
  organizationName: string;
};

export type Link = { label: string; url: string };

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
const maximumOrganization = 100;
const maximumAddress = 254;
const maximumBothForms = 2 * maximumAddress + 3;
const maximumAddressInHeadline = 64;
const maximumName = 200;
const maximumTitle = 200;
const maximumDomain = 253;
const maximumDetail = 1000;

export const noticeOf = (report: Report, { organizationName, dashboardUrl }: NoticeContext): Notice => {
  const name = asLine(organizationName, maximumOrganization);
  const words = wordsFor(report, dashboardUrl);
  return { summary: `${words.headline} (${name})`, organizationName: name, ...words };
};

type Words = Omit<Notice, "summary" | "organizationName">;

const wordsFor = ({ event, exposure }: Report, dashboardUrl: string | undefined): Words => {
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
        headline: "A scan is complete",
        lead:
          `Checked ${shown(scannedCount)} of ${shown(totalEmails)} monitored e-mail addresses. ` +
          `New breaches found: ${shown(newBreachCount)}. Addresses that could not be checked: ${shown(failedCount)}.`,
      };
    }
    case "scan_error":
      return {
        ...bare,
        // Errors of scans, domains that lost their proof, and tests of a channel: the sentence below says which.
        headline: "A message about breach monitoring",
        lead: asLine(event.data.error, maximumDetail),
      };
  }
};

type Breach = Extract<Event, { type: "breach" }>["data"]["breaches"][number];

const wordsForBreaches = (
  breaches: readonly Breach[],
  exposure: Exposure | undefined,
  dashboardUrl: string | undefined,
): Words => {
  const one = breaches.length === 1;
  const howMany = one ? "a data breach" : `${breaches.length} data breaches`;
  const found = `was found in ${howMany} that ${one ? "was" : "were"} not known before.`;
  const items = breaches.map((breach) => itemOf(breach, exposure, dashboardUrl));
  const email = exposure?.email;
  if (email === undefined) {
    return {
      headline: `An address that is no longer monitored appeared in ${howMany}`,
      lead: `An address that is no longer monitored ${found} Its findings were deleted when it was removed.`,
      facts: [],
      items,
      advice: undefined,
      link: undefined,
    };
  }
  return {
    headline: `${shortened(email.address)} appeared in ${howMany}`,
    lead: `This monitored e-mail address ${found}`,
    facts: factsOf(email),
    items,
    advice: "Acknowledge each finding once it is handled.",
    link: linkTo(dashboardUrl, findingsOf(email), "See the findings of this address"),
  };
};

const itemOf = (
  { breachId, title, domain, dataClasses }: Breach,
  exposure: Exposure | undefined,
  dashboardUrl: string | undefined,
): Notice["items"][number] => {
  const finding = exposure?.findings.get(breachId);
  const path = exposure?.email && finding && `${findingsOf(exposure.email)}&finding=${finding.id}`;
  return {
    title: asLine(title, maximumTitle) + (domain === "" ? "" : ` (${asLine(domain, maximumDomain)})`),
    details: [...dateOf(finding?.breachDate), exposedIn(dataClasses)],
    url: path === undefined || dashboardUrl === undefined ? undefined : dashboardUrl + path,
  };
};

const factsOf = ({ address, ownerName, teamName }: ExposedEmail): Notice["facts"] =>
  [
    { label: "Address", value: asLine(inBothForms(address), maximumBothForms) },
    { label: "Owner", value: ownerName === null ? "" : asLine(ownerName, maximumName, "") },
    { label: "Team", value: teamName === null ? "" : asLine(teamName, maximumName, "") },
  ].filter(({ value }) => value !== "");

const dateOf = (breachDate = unknownDate): string[] =>
  breachDate === unknownDate ? [] : [`Date of the breach: ${asLine(breachDate, maximumName)}`];

const exposedIn = (dataClasses: readonly string[]): string =>
  dataClasses.length === 0
    ? "It is not known what was exposed."
    : asLine(`Exposed: ${dataClasses.join(", ")}`, maximumDetail);

const findingsOf = ({ id }: ExposedEmail): string => `/findings?emailId=${id}`;

const linkTo = (dashboardUrl: string | undefined, path: string, label: string): Link | undefined =>
  dashboardUrl === undefined ? undefined : { label, url: dashboardUrl + path };

const shown = (count: number): string => count.toLocaleString("en-US");

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
