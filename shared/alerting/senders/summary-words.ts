/** A summary in words for people (summary.ts). */
import { severities } from "../../monitoring/hibp/severity-schema.ts";
import { adviceFor, asLine, inWords, type Notice, type NoticeContext, subjectOf } from "./notice.ts";
import type { Summary, SummaryBreach } from "./summary.ts";

/** A message lists at most this many breaches; a first scan's the worst five. */
const maximumBreaches = 10;
const maximumOfBaseline = 5;
const maximumText = 1000;
const maximumOrganization = 100;
const maximumOrganizationInSubject = 60;

const counted = (count: number, one: string, many: string): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;

const peopleOf = (count: number): string => counted(count, "person", "people");

export const noticeOfSummary = (
  summary: Summary,
  { organizationName, dashboardUrl }: NoticeContext,
): Notice => {
  const name = asLine(organizationName, maximumOrganization);
  const { kind, breaches, discreetPeople, totals, scanId } = summary;
  const shown = breaches.slice(0, kind === "baseline" ? maximumOfBaseline : maximumBreaches);
  const [worst] = breaches;
  const more = breaches.length - shown.length;
  const discreet =
    discreetPeople === 0
      ? []
      : [{ title: `a sensitive breach: ${peopleOf(discreetPeople)}`, details: [], url: undefined }];
  return {
    severity: worst?.severity,
    thread: scanId === undefined ? undefined : `scan-${scanId}`,
    summary: `${headlineOf(summary, true)} at ${asLine(organizationName, maximumOrganizationInSubject)}`,
    organizationName: name,
    headline: headlineOf(summary),
    lead: leadOf(summary),
    facts: [],
    items: [
      ...shown.map((breach) => itemOf(breach, kind)),
      ...discreet,
      ...(more > 0
        ? [{ title: `and ${counted(more, "more breach", "more breaches")}`, details: [], url: undefined }]
        : []),
    ],
    advice: totals.findings > 0 ? adviceFor(worst?.advice) : undefined,
    link:
      dashboardUrl === undefined
        ? undefined
        : {
            label: "See the findings",
            url: `${dashboardUrl}/findings${scanId === undefined ? "" : `?scanId=${scanId}`}`,
          },
  };
};

/** `isSubject`: also says what leaked. */
const headlineOf = ({ kind, breaches, discreetPeople, totals }: Summary, isSubject = false): string => {
  const [worst] = breaches;
  if (kind === "baseline") return `The first scan found ${peopleOf(totals.people)} in data breaches`;
  if (worst === undefined) {
    const what =
      kind === "risen" ? "A sensitive breach is worse than it was known to be" : "A sensitive breach";
    return `${what}: ${peopleOf(discreetPeople)}`;
  }
  const others = breaches.length - 1 + (discreetPeople > 0 ? 1 : 0);
  const what = isSubject
    ? subjectOf(worst, others, worst.people)
    : `${asLine(worst.title, 50)}${others === 0 ? "" : ` and ${others.toLocaleString("en-US")} more`}, ${peopleOf(worst.people)}`;
  return `${kind === "risen" ? "Now " : ""}${inWords(worst.severity)}${what}`;
};

const leadOf = ({ kind, totals, totalEmails = 0, reopened = 0 }: Summary): string => {
  const found = `${counted(totals.findings, "finding", "findings")} of ${peopleOf(totals.people)}`;
  if (kind === "risen") {
    const again =
      reopened === 0
        ? ""
        : ` Acknowledged findings that are open again: ${reopened.toLocaleString("en-US")}.`;
    return `The severity of a breach has risen. It concerns ${peopleOf(totals.people)}.${again}`;
  }
  if (kind === "found") return `New in all: ${found}.`;
  const bySeverity = severities
    .filter((severity) => totals.bySeverity[severity] > 0)
    .map((severity) => `${totals.bySeverity[severity].toLocaleString("en-US")} ${severity}`);
  return `Checked ${counted(totalEmails, "address", "addresses")}: ${found} (${bySeverity.join(", ")}).`;
};

const itemOf = (
  { title, severity, people, named, dataClasses }: SummaryBreach,
  kind: Summary["kind"],
): Notice["items"][number] => {
  const rest = people - named.length;
  const others = rest > 0 ? [`${named.length > 0 ? "and " : ""}${rest.toLocaleString("en-US")} more`] : [];
  const names = named.map((address) => asLine(address, 254));
  return {
    title: `${asLine(title, 200)} · ${severity} · ${peopleOf(people)}`,
    details: [
      ...(kind === "baseline" || names.length === 0 ? [] : [[...names, ...others].join(", ")]),
      ...(dataClasses.length === 0 ? [] : [asLine(`Exposed: ${dataClasses.join(", ")}`, maximumText)]),
    ],
    url: undefined,
  };
};
