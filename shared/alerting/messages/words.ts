/** The words of each kind of message for people. test/alerting/golden has each of them in each form. */
import { stepsForOwner } from "../../hibp/advice.ts";
import { severities } from "../../hibp/severity-schema.ts";
import { asLine } from "../kinds/as-line.ts";
import type { NoticeContext, Words } from "../kinds/notice.ts";
import type { Content } from "./content.ts";
import {
  factsOf,
  inFull,
  itemOfBreach,
  itemOfUnwatched,
  itemsOf,
  itemsOfReport,
  shortened,
} from "./items.ts";
import {
  adviceFor,
  andMore,
  breachesInWords,
  counted,
  firstStepFor,
  inWords,
  maximumDetail,
  peopleOf,
  shortTitle,
  shown,
  subjectOf,
  threadsOf,
  unwatchedOf,
  unwatchedUrl,
} from "./phrases.ts";
import type { Summary } from "./summary.ts";

type Kind = Content["kind"];
type ContentOf<K extends Kind> = K extends Summary["kind"] ? Summary : Extract<Content, { kind: K }>;
type Table = { [K in Kind]: (content: ContentOf<K>, context: NoticeContext) => Words };

export const wordsFor = <K extends Kind>(content: Content & { kind: K }, context: NoticeContext): Words =>
  table[content.kind](content as unknown as ContentOf<K>, context);

const table: Table = {
  person: ({ scanId, email, breaches, unwatched }, { dashboardUrl }) => {
    const [worst] = breaches;
    const severity = worst?.severity;
    const howMany = breachesInWords(breaches.length);
    const predicate = `was found in ${howMany} that ${breaches.length === 1 ? "was" : "were"} not known before.`;
    const threads = threadsOf(breaches, scanId);
    const besides = itemOfUnwatched(unwatched, dashboardUrl);
    if (email === undefined) {
      return {
        severity,
        threads,
        headline: `${inWords(severity)}An address that is no longer monitored appeared in ${howMany}`,
        lead: `An address that is no longer monitored ${predicate} Its findings were deleted when it was removed.`,
        items: [...breaches.map((breach) => itemOfBreach(breach)), ...besides],
      };
    }
    const url = `${dashboardUrl}/findings?emailId=${email.id}`;
    return {
      severity,
      threads,
      ...(worst && { subject: inWords(severity) + subjectOf(worst, breaches.length - 1, "1 person") }),
      headline: `${inWords(severity)}${shortened(email.address)} appeared in ${howMany}`,
      lead: `This monitored e-mail address ${predicate}`,
      facts: factsOf(email),
      items: [
        ...breaches.map((breach) => itemOfBreach(breach, `${url}&finding=${breach.findingId}`)),
        ...besides,
      ],
      advice: adviceFor(worst),
      link: { label: "See the findings of this address", url },
    };
  },

  /** To somebody who need not know the service. */
  owner: ({ address, breaches }, { organizationName: name }) => {
    const [worst] = breaches;
    const severity = worst?.severity;
    const steps = [...new Set(breaches.flatMap(stepsForOwner))].slice(0, maximumSteps);
    const howMany = breachesInWords(breaches.length);
    return {
      severity,
      subject:
        `${inWords(severity)}your address is in the data breach ` +
        `${shortTitle(worst?.title ?? "")}${andMore(breaches.length - 1)}`,
      headline: `${inWords(severity)}your address is in ${howMany}`,
      lead:
        `${name} looks for the addresses of its domains in known data breaches. Yours, ` +
        `${inFull(address)}, is in ${howMany}, so strangers may know what is listed here. That ` +
        "need not be your fault.",
      items: breaches.map((breach) => itemOfBreach(breach)),
      advice: [
        "What you can do:",
        ...steps.map((step, index) => `${index + 1}. ${step}`),
        "",
        `If you have questions, ask ${name}. This message does not ask for a password, and has no link to sign in.`,
      ].join("\n"),
    };
  },

  event: () => {
    throw new Error("Programs get events alone");
  },

  scan: ({ event }, { dashboardUrl }) => {
    const link = { label: "See the scans", url: `${dashboardUrl}/scans` };
    if (event.type === "scan_error") {
      // Of channels, domains, and the plan the overview tells more.
      const overview = { label: "See the overview", url: `${dashboardUrl}/` };
      return {
        ...wordsForError(asLine(event.error, maximumDetail)),
        link: event.scanId === undefined ? overview : link,
      };
    }
    const { scannedCount, totalEmails, newBreachCount, failedCount } = event;
    const checked = `${shown(scannedCount)} of ${shown(totalEmails)}`;
    return {
      headline: failedCount > 0 ? `A scan checked ${checked} addresses` : "A scan is complete",
      lead:
        `Checked ${checked} monitored e-mail addresses. ` +
        `New findings: ${shown(newBreachCount)}. Addresses that could not be checked: ${shown(failedCount)}.`,
      link,
    };
  },

  /** Nothing of it is in the dashboard, so that no link leads to it. */
  example: ({ of }, context) => {
    const words = wordsFor(of, context);
    const headline = `Test: ${words.headline}`;
    return {
      ...words,
      threads: [],
      subject: words.subject === undefined ? headline : `Test: ${words.subject}`,
      headline: asLine(headline, maximumHeadline),
      lead:
        "This is a test of the alert channel, sent by hand, with an example of what comes. Nothing " +
        `of it has happened. ${words.lead}`,
      items: (words.items ?? []).map((item) => ({ ...item, url: undefined })),
      link: linkTo(context.dashboardUrl, ""),
    };
  },

  findings: (summary, { dashboardUrl }) => {
    const { breaches, people, stage = "only", scanId } = summary;
    const since = `New since the message before: ${peopleOf(people, summary)}, listed here. The scan found in all`;
    const opening = { only: "New in all", first: "The scan still runs. New so far", last: since }[stage];
    const lead = breaches.length === 0 ? "" : `${opening}: ${inAllOf(summary)}.`;
    return {
      ...headlinesOf(summary, { prefix: "", discreet: "A sensitive breach" }),
      ...contentOf(summary, lead, dashboardUrl),
      link: linkTo(dashboardUrl, scanId === undefined ? "" : `?scanId=${scanId}`),
    };
  },

  baseline: (summary, { dashboardUrl }) => {
    const { breaches, discreetPeople, inAll, bySeverity, scannedCount = 0, scanId } = summary;
    const worst = breaches.length === 0 ? undefined : inAll.worst;
    const counts = severities.flatMap((severity) => {
      const count = bySeverity?.[severity] ?? 0;
      return count === 0 ? [] : [`${shown(count)} ${severity}`];
    });
    const checked = `Checked ${counted(scannedCount, "address", "addresses")}`;
    const lead =
      inAll.findings === 0 ? `${checked}.` : `${checked}: ${inAllOf(summary)} (${counts.join(", ")}).`;
    const headline =
      worst === undefined
        ? `The first scan found ${peopleOf(discreetPeople, summary)} in a sensitive breach`
        : `${inWords(worst.severity)}the first scan found ${peopleOf(inAll.people, summary)} in data breaches`;
    return {
      subject: headline,
      headline,
      ...contentOf(summary, lead, dashboardUrl),
      link: linkTo(dashboardUrl, scanId === undefined ? "" : `?scanId=${scanId}`),
    };
  },

  unwatched: (report, { dashboardUrl }) => {
    const { severity, count, others, breaches, sensitive, scanId } = report;
    const [worst] = breaches;
    const more = breaches.length + sensitive - 1;
    const who = unwatchedOf(count, report);
    // What is worst may be among the sensitive ones.
    const isNamed = worst !== undefined && (sensitive === 0 || worst.severity === severity);
    const what = `${isNamed ? shortTitle(worst.title) : "a sensitive breach"}${andMore(Math.max(0, more))}`;
    const only = isNamed && more === 0 ? worst : undefined;
    const alone = count === 1 && !report.isAtMost;
    const lesser =
      others === 0
        ? ""
        : ` ${shown(others)} more ${others === 1 ? "is" : "are"} in breaches of lower severity.`;
    const hidden =
      sensitive === 0 ? "" : " This channel does not name sensitive breaches. The dashboard does.";
    return {
      severity,
      threads: sensitive === 0 ? threadsOf(breaches, scanId) : [],
      subject: `${inWords(severity)}${only === undefined ? `${what}, ${who}` : subjectOf(only, 0, who)}`,
      headline: `${inWords(severity)}${what}, ${who}`,
      lead:
        `${alone ? "An address" : "Addresses"} of your domains ${alone ? "is" : "are"} in ` +
        `${more <= 0 ? "a breach that was" : "breaches that were"} not known before. Nobody watches ` +
        `${alone ? "it" : "them"}, so there are no findings, and no owner is told.${lesser}${hidden}`,
      items: itemsOfReport(report),
      advice: [...firstStepFor(worst), `Watch ${alone ? "the" : "each"} address, or ignore it.`].join("\n"),
      link: {
        label: alone ? "See the address" : "See the addresses",
        url: unwatchedUrl(dashboardUrl, only?.id),
      },
    };
  },

  risen: (summary, { dashboardUrl }) => {
    const { breaches, people, discreetPeople, reopened = 0 } = summary;
    const [breach] = breaches;
    const again = reopened === 0 ? "" : ` Acknowledged findings that are open again: ${shown(reopened)}.`;
    const concerned = peopleOf(people + discreetPeople, summary);
    const lead = `The severity of a breach has risen. It concerns ${concerned}.${again}`;
    return {
      ...headlinesOf(summary, { prefix: "Now ", discreet: "A sensitive breach is worse than was known" }),
      ...contentOf(summary, lead, dashboardUrl),
      link: linkTo(dashboardUrl, breach === undefined ? "" : `?breachId=${breach.id}`),
    };
  },
};

/** More than these are read by nobody. */
const maximumSteps = 6;

const maximumHeadline = 100;

/**
 * The headline is the error up to its first colon or full stop outside of a name. Without one near enough, it
 * is the error's beginning.
 */
const wordsForError = (error: string): Words => {
  const [, headline, details = ""] = /^((?:"[^"]*"|[^"]){1,100}?)[:.] (.+?)\.?$/.exec(error) ?? [];
  return headline === undefined
    ? { headline: asLine(error.replace(/\.$/, ""), maximumHeadline), lead: error }
    : {
        headline: asLine(headline, maximumHeadline),
        lead: `${details.charAt(0).toUpperCase()}${details.slice(1)}.`,
      };
};

const linkTo = (dashboardUrl: string, query: string) => ({
  label: "See the findings",
  url: `${dashboardUrl}/findings${query}`,
});

const inAllOf = (summary: Summary): string =>
  `${counted(summary.inAll.findings, "finding", "findings")} of ${peopleOf(summary.inAll.people, summary)}`;

/** The subject also says what leaked in a single breach. `discreet`: without a breach that may be named. */
const headlinesOf = (
  summary: Summary,
  { prefix, discreet }: { prefix: string; discreet: string },
): { subject: string; headline: string } => {
  const { breaches, discreetPeople, inAll } = summary;
  const { worst, more } = inAll;
  if (breaches.length === 0 || worst === undefined) {
    const headline = `${discreet}: ${peopleOf(discreetPeople, summary)}`;
    return { subject: headline, headline };
  }
  const people = peopleOf(inAll.people, summary);
  const sensitive = discreetPeople === 0 ? "" : ", and a sensitive breach";
  const withWhat = (what: string): string => `${prefix}${inWords(worst.severity)}${what}${sensitive}`;
  const headline = withWhat(`${shortTitle(worst.title)}${andMore(more)}, ${people}`);
  return { subject: more === 0 ? withWhat(subjectOf(worst, 0, people)) : headline, headline };
};

/** What messages about many people share. */
const contentOf = (summary: Summary, lead: string, dashboardUrl: string) => {
  const { breaches, people, discreetPeople, inAll, scanId } = summary;
  const worst = breaches.length === 0 ? undefined : inAll.worst;
  const why =
    breaches.length === 0
      ? "This channel does not name the breach or the people. The dashboard does."
      : discreetPeople > 0
        ? "Sensitive breaches are counted apart, and because of them this message names nobody. The dashboard does."
        : "";
  return {
    severity: worst?.severity,
    threads: threadsOf(discreetPeople === 0 ? breaches : [], scanId),
    lead: [lead, why].filter((part) => part !== "").join(" "),
    items: itemsOf(summary, dashboardUrl),
    advice: people + discreetPeople > 0 ? adviceFor(worst) : undefined,
  };
};
