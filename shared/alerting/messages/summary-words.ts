/** A summary in words for people (summary.ts). */
import { severities } from "../../monitoring/hibp/severity-schema.ts";
import { asLine } from "../kinds/as-line.ts";
import type { Notice, Words } from "../kinds/notice.ts";
import type { PersonReport } from "./person.ts";
import {
  adviceFor,
  andMore,
  counted,
  exposedIn,
  inWords,
  maximumAddress,
  maximumTitle,
  shortTitle,
  shown,
  stolenFor,
  subjectOf,
  threadsOf,
} from "./phrases.ts";
import type { Summary, SummaryBreach } from "./summary.ts";

/** Entries of a message, so that Slack shows all of them (slack.ts). Of a first scan it lists the worst five breaches. */
const maximumItems = 10;
const maximumOfBaseline = 5;

const leastOf = ({ isPart = false }: Summary): string => (isPart ? "at least " : "");

const peopleOf = (count: number, summary: Summary): string =>
  leastOf(summary) + counted(count, "person", "people");

export const wordsForSummary = (summary: Summary, dashboardUrl: string): Words => {
  const { kind, breaches, persons, people, discreetPeople, scanId, inAll } = summary;
  // With nothing else, the headline says it.
  const discreet =
    discreetPeople === 0 || breaches.length === 0
      ? []
      : [`A sensitive breach: ${peopleOf(discreetPeople, summary)}`];
  const room = kind === "baseline" ? maximumOfBaseline : maximumItems - discreet.length;
  // What is left out has an entry too.
  const isCut = kind !== "baseline" && breaches.length > room;
  const listed = breaches.slice(0, isCut ? room - 1 : room);
  const more = breaches.length - listed.length;
  const others = [...discreet, ...(more > 0 ? [`and ${counted(more, "more breach", "more breaches")}`] : [])];
  const worst = breaches.length === 0 ? undefined : inAll.worst;
  return {
    severity: worst?.severity,
    threads: threadsOf(discreetPeople === 0 ? breaches : [], scanId),
    subject: headlineOf(summary, true),
    headline: headlineOf(summary),
    lead: leadOf(summary),
    items:
      persons.length > 0
        ? persons.map((person) => itemOfPerson(person, dashboardUrl))
        : [
            ...listed.map((breach) => itemOf(breach, summary)),
            ...others.map((title) => ({ title, details: [], url: undefined })),
          ],
    advice: people + discreetPeople > 0 ? adviceFor(worst) : undefined,
    link: { label: "See the findings", url: dashboardUrl + pathOf(summary) },
  };
};

const pathOf = ({ kind, breaches: [worst], scanId }: Summary): string => {
  if (kind === "risen" && worst !== undefined) return `/findings?breachId=${worst.id}`;
  return scanId === undefined ? "/findings" : `/findings?scanId=${scanId}`;
};

/** `isSubject`: also says what leaked in a single breach. */
const headlineOf = (summary: Summary, isSubject = false): string => {
  const { kind, breaches, discreetPeople, inAll } = summary;
  const worst = breaches.length === 0 ? undefined : inAll.worst;
  if (kind === "baseline") {
    return worst === undefined
      ? `The first scan found ${peopleOf(discreetPeople, summary)} in a sensitive breach`
      : `${inWords(worst.severity)}the first scan found ${peopleOf(inAll.people, summary)} in data breaches`;
  }
  if (worst === undefined) {
    const what = kind === "risen" ? "A sensitive breach is worse than was known" : "A sensitive breach";
    return `${what}: ${peopleOf(discreetPeople, summary)}`;
  }
  const { others } = inAll;
  const people = peopleOf(inAll.people, summary);
  const what =
    isSubject && others === 0
      ? subjectOf(worst, 0, people)
      : `${shortTitle(worst.title)}${andMore(others)}, ${people}`;
  const discreet = discreetPeople === 0 ? "" : ", and a sensitive breach";
  return `${kind === "risen" ? "Now " : ""}${inWords(worst.severity)}${what}${discreet}`;
};

const leadOf = (summary: Summary): string => {
  const {
    kind,
    breaches,
    discreetPeople,
    inAll,
    stage,
    bySeverity,
    scannedCount = 0,
    reopened = 0,
  } = summary;
  const why =
    breaches.length === 0
      ? " This channel does not name the breach or the people. The dashboard does."
      : discreetPeople > 0
        ? " Sensitive breaches are counted apart, and because of them this message names nobody. The dashboard does."
        : "";
  if (kind === "risen") {
    const again = reopened === 0 ? "" : ` Acknowledged findings that are open again: ${shown(reopened)}.`;
    const people = peopleOf(summary.people + discreetPeople, summary);
    return `The severity of a breach has risen. It concerns ${people}.${again}${why}`;
  }
  const found = `${counted(inAll.findings, "finding", "findings")} of ${peopleOf(inAll.people, summary)}`;
  if (kind === "found") {
    if (breaches.length === 0) return why.trim();
    const { people } = summary;
    const since = `New since the message before: ${peopleOf(people, summary)}, listed here. The scan found in all`;
    const says = { first: "The scan still runs. New so far", last: since, none: "New in all" }[
      stage ?? "none"
    ];
    return `${says}: ${found}.${why}`;
  }
  const counts = severities.flatMap((severity) => {
    const count = bySeverity?.[severity] ?? 0;
    return count === 0 ? [] : [`${shown(count)} ${severity}`];
  });
  const checked = `Checked ${counted(scannedCount, "address", "addresses")}`;
  return inAll.findings === 0 ? `${checked}.${why}` : `${checked}: ${found} (${counts.join(", ")}).${why}`;
};

const itemOf = (
  { title, severity, people, named, dataClasses, stealerLogDomains }: SummaryBreach,
  summary: Summary,
): Notice["items"][number] => {
  const rest = people - named.length;
  const names = named.map((address) => asLine(address, maximumAddress));
  const others = rest > 0 ? [`and ${leastOf(summary)}${shown(rest)} more`] : [];
  return {
    title: `${asLine(title, maximumTitle)} · ${severity} · ${peopleOf(people, summary)}`,
    details: [
      ...(summary.kind === "baseline" || names.length === 0 ? [] : [[...names, ...others].join(", ")]),
      ...(dataClasses.length === 0 ? [] : [exposedIn(dataClasses)]),
      ...stolenFor(stealerLogDomains),
    ],
    url: undefined,
  };
};

/** Breaches of a person that a message about several people lists. */
const maximumOfPerson = 5;

const itemOfPerson = ({ email, breaches }: PersonReport, dashboardUrl: string): Notice["items"][number] => {
  const { address = "", ownerName, teamName } = email ?? {};
  const who = [ownerName, teamName].filter((each) => each).map((each) => asLine(each ?? "", maximumTitle));
  const listed = breaches.slice(0, maximumOfPerson);
  const more = breaches.length - listed.length;
  return {
    title: email === undefined ? "An address that is no longer monitored" : asLine(address, maximumAddress),
    details: [
      ...(who.length === 0 ? [] : [who.join(" · ")]),
      ...listed.flatMap(({ title, severity, dataClasses, stealerLogDomains }) => [
        `${asLine(title, maximumTitle)} · ${severity}`,
        exposedIn(dataClasses),
        ...stolenFor(stealerLogDomains),
      ]),
      ...(more > 0 ? [`and ${counted(more, "more breach", "more breaches")}`] : []),
    ],
    url: email && `${dashboardUrl}/findings?emailId=${email.id}`,
  };
};
