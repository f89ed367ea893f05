/**
 * The entries of a message: of a breach for those whose address is told, of a person, and of a breach of many people.
 */
import { domainToUnicode } from "node:url";
import { unlinked } from "../../aws/mail/quoted.ts";
import { unknownDate } from "../../contract/unknown-date.ts";
import { asLine } from "../kinds/as-line.ts";
import type { Notice } from "../kinds/notice.ts";
import type { OwnBreach, PersonReport } from "./person.ts";
import {
  counted,
  exposedIn,
  maximumAddress,
  maximumTitle,
  peopleOf,
  shown,
  stolenFor,
  unwatchedOf,
  unwatchedUrl,
} from "./phrases.ts";
import type { Summary, SummaryBreach } from "./summary.ts";
import type { Unwatched, UnwatchedReport } from "./unwatched.ts";

type Item = Notice["items"][number];

const maximumName = 200;
const maximumDomain = 253;
const maximumAddressInHeadline = 60;

/**
 * Entries of a message, so that Slack shows all of them (slack.ts). Of a first scan it lists the worst five breaches.
 */
const maximumItems = 10;
const maximumOfBaseline = 5;

/** Breaches of a person that a message about several people lists. */
const maximumOfPerson = 5;

/** Whose address it is. */
export const factsOf = ({
  address,
  ownerName,
  teamName,
}: NonNullable<PersonReport["email"]>): Notice["facts"] =>
  [
    { label: "Address", value: inFull(address) },
    { label: "Owner", value: unlinked(asLine(ownerName ?? "", maximumName, "")) },
    { label: "Team", value: unlinked(asLine(teamName ?? "", maximumName, "")) },
  ].filter(({ value }) => value !== "");

export const inFull = (address: string): string => asLine(inBothForms(address), 2 * maximumAddress + 3);

/** An address with both its ends, since its domain is at the end. */
export const shortened = (address: string): string => {
  const characters = [...asLine(address, maximumAddress)];
  if (characters.length <= maximumAddressInHeadline) return characters.join("");
  const half = maximumAddressInHeadline / 2;
  return `${characters.slice(0, half - 1).join("")}…${characters.slice(-half).join("")}`;
};

/** A breach of one person. */
export const itemOfBreach = (
  { title, domain, severity, breachDate, dataClasses, stealerLogDomains }: OwnBreach,
  url?: string,
): Item => ({
  title: `${asLine(title, maximumTitle)}${domain === "" ? "" : ` (${asLine(domain, maximumDomain)})`} · ${severity}`,
  details: [
    ...(breachDate === unknownDate ? [] : [`Date of the breach: ${breachDate}`]),
    exposedIn(dataClasses),
    ...stolenFor(stealerLogDomains),
  ],
  url,
});

/** Addresses that nobody watches, with a link to their list. */
export const itemOfUnwatched = (unwatched: Unwatched | undefined, dashboardUrl: string): Item[] =>
  unwatched === undefined
    ? []
    : [
        {
          title: `And ${unwatchedOf(unwatched.count, unwatched)}`,
          details: [],
          url: unwatchedUrl(dashboardUrl, unwatched.breachId),
          urlLabel: "See the list",
        },
      ];

/** The people of a message, or its breaches, how many it leaves out, and who is not watched. */
export const itemsOf = (summary: Summary, dashboardUrl: string): Item[] => {
  const unwatched = itemOfUnwatched(summary.unwatched, dashboardUrl);
  return [...itemsOfPeople(summary, dashboardUrl, maximumItems - unwatched.length), ...unwatched];
};

const itemsOfPeople = (summary: Summary, dashboardUrl: string, maximum: number): Item[] => {
  const { kind, breaches, persons, discreetPeople } = summary;
  if (persons.length > 0) return persons.map((person) => itemOfPerson(person, dashboardUrl));
  // With nothing else, the headline says it.
  const discreet =
    discreetPeople === 0 || breaches.length === 0
      ? []
      : [`A sensitive breach: ${peopleOf(discreetPeople, summary)}`];
  const room = kind === "baseline" ? maximumOfBaseline : maximum - discreet.length;
  // What is left out has an entry too.
  const isCut = kind !== "baseline" && breaches.length > room;
  const listed = breaches.slice(0, isCut ? room - 1 : room);
  const more = breaches.length - listed.length;
  const unlisted = [
    ...discreet,
    ...(more > 0 ? [`and ${counted(more, "more breach", "more breaches")}`] : []),
  ];
  return [
    ...listed.map((breach) => itemOfGroup(breach, summary)),
    ...unlisted.map((title) => ({ title, details: [], url: undefined })),
  ];
};

const itemOfPerson = ({ email, breaches }: PersonReport, dashboardUrl: string): Item => {
  const { address = "", ownerName, teamName } = email ?? {};
  const who = [ownerName, teamName]
    .filter((each) => each)
    .map((each) => unlinked(asLine(each ?? "", maximumName)));
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
    urlLabel: "See the findings",
  };
};

/** A breach of many people. */
const itemOfGroup = (breach: SummaryBreach, summary: Summary): Item => {
  const { title, severity, people, named, dataClasses, stealerLogDomains } = breach;
  const unnamed = people - named.length;
  const names = named.map((address) => asLine(address, maximumAddress));
  const moreNames = unnamed > 0 ? [`and ${summary.isPart ? "at least " : ""}${shown(unnamed)} more`] : [];
  return {
    title: `${asLine(title, maximumTitle)} · ${severity} · ${peopleOf(people, summary)}`,
    details: [
      ...(summary.kind === "baseline" || names.length === 0 ? [] : [[...names, ...moreNames].join(", ")]),
      ...(dataClasses.length === 0 ? [] : [exposedIn(dataClasses)]),
      ...stolenFor(stealerLogDomains),
    ],
    url: undefined,
  };
};

/**
 * A domain name or an address for people, in both forms if it has two: `ada@münchen.example
 * (ada@xn--mnchen-3ya.example)`. The ASCII form is shown too, because letters of different scripts can
 * look the same.
 */
export const inBothForms = (text: string): string => {
  const start = text.lastIndexOf("@") + 1;
  const domain = text.slice(start);
  const written = /(?:^|\.)xn--/.test(domain) ? domainToUnicode(domain) : "";
  return written === "" || written === domain ? text : `${text.slice(0, start)}${written} (${text})`;
};

/** The breaches of addresses that nobody watches. */
export const itemsOfReport = ({ breaches, sensitive }: UnwatchedReport): Item[] => {
  // With nothing else, the headline says it.
  const hidden =
    sensitive === 0 || breaches.length === 0
      ? []
      : [counted(sensitive, "sensitive breach", "sensitive breaches")];
  const room = maximumItems - hidden.length;
  const listed = breaches.slice(0, breaches.length > room ? room - 1 : room);
  const more = breaches.length - listed.length;
  const unlisted = [...hidden, ...(more > 0 ? [`and ${counted(more, "more breach", "more breaches")}`] : [])];
  return [
    ...listed.map(({ title, severity, addresses, dataClasses }) => ({
      title: `${asLine(title, maximumTitle)} · ${severity} · ${counted(addresses, "address", "addresses")}`,
      details: [exposedIn(dataClasses)],
      url: undefined,
    })),
    ...unlisted.map((title) => ({ title, details: [], url: undefined })),
  ];
};
