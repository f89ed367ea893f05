/** What a message says that is about a whole scan, or that may name nobody. */
import { findings } from "../../findings/record.ts";
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf, severityAt } from "../../hibp/severity.ts";
import { type Severity, severities } from "../../hibp/severity-schema.ts";
import * as ofScan from "../../monitoring/unwatched/of-scan.ts";
import { type AnyChannel, optionsOf } from "../channels/channel.ts";
import type { AlertEvent, Delivery, Gathered } from "../deliveries/delivery.ts";
import { isOfDelivery } from "../deliveries/share.ts";
import { type PersonReport, readPerson } from "./person.ts";
import { findingsOfScans, isForPeople, openFindings, type ScanFinding } from "./scan-findings.ts";
import { besides, readUnwatched, type Unwatched, type UnwatchedReport } from "./unwatched.ts";

/** A message about more people groups them by breach. */
const fewPeople = 5;

/** Such a message names at most this many people, those of the worst breaches. */
const maximumNamed = 10;

/** As many as a finding keeps. */
const maximumWebsites = 50;

export type SummaryBreach = Breach & {
  /** Of a stealer log: some of the websites whose logins were stolen. */
  stealerLogDomains: string[];
  people: number;
  /** Addresses of some of them, at most ten. */
  named: string[];
};

/** What the headline says. `worst`: the worst breach; `more`: how many more there are. */
type InAll = { worst: Breach | undefined; more: number; findings: number; people: number };

/** `findings`: new breaches; `baseline`: what the first scan found; `risen`: a breach is worse than it was thought. */
export type Summary = {
  kind: "findings" | "baseline" | "risen";
  /** Worst first. Sensitive ones only where the channel may name them. */
  breaches: SummaryBreach[];
  /** Up to five people with their breaches, who are all of this message. */
  persons: PersonReport[];
  /** People in sensitive breaches that the channel must not name. */
  discreetPeople: number;
  /**
   * In `breaches`. No number counts both these people and those of `discreetPeople`: its difference to others
   * would say who they are.
   */
  people: number;
  /** There are so many findings that people were counted in some of them only: there are at least as many. */
  isPart?: boolean;
  /** Of all that the scans found for the channel, also what the message before told, without `discreetPeople`. */
  inAll: InAll;
  /** The scan still runs; or a message before has told a part of what it found. */
  stage?: "first" | "last";
  /** Of `inAll.findings`. */
  bySeverity?: Record<Severity, number>;
  /** Of a baseline: how many addresses were checked. */
  scannedCount?: number;
  /** Of a risen breach: how many findings are open again. */
  reopened?: number;
  /** Addresses that nobody watches, beside these people. */
  unwatched?: Unwatched | undefined;
  /** The scan of all findings; undefined when there are several. */
  scanId: number | undefined;
};

export const noBreaches = {
  breaches: [],
  persons: [],
  people: 0,
  inAll: { worst: undefined, more: 0, findings: 0, people: 0 },
} satisfies Partial<Summary>;

/** Undefined: nothing is left to tell. A single person gets a message of their own. */
export const readGathered = async (
  org: number,
  { event, scans = new Set() }: Delivery,
  channel: AnyChannel,
): Promise<Summary | PersonReport | UnwatchedReport | undefined> => {
  if (event.type !== "gathered") return undefined;
  const { minSeverity, sensitive } = optionsOf(channel);
  const least = levelOf(minSeverity);
  // A scan that still runs may find more strangers. What was split for a webhook would count them in each part.
  const tellsStrangers = event.only === undefined && event.found === undefined && event.opened === undefined;
  const [totals, strangers] = await Promise.all([
    readFindings(org, scans, event, least),
    tellsStrangers ? ofScan.read(org, scans) : undefined,
  ]);
  const details = await breachDetails.details(totals.byBreach.keys());
  const { open = [], discreet = [] } = Object.groupBy(totals.byBreach.values(), ({ breachId }) =>
    sensitive === "discreet" && details.get(breachId)?.isSensitive ? "discreet" : "open",
  );
  for (const { level, findings } of discreet) totals.bySeverity[severityAt(level)] -= findings;
  const worstFirst = open.toSorted(
    (one, other) => other.level - one.level || other.everybody.size - one.everybody.size,
  );
  const discreetPeople = peopleIn(discreet.map(({ people }) => people));
  const people = peopleIn(open.map((each) => each.people));
  if (people + discreetPeople === 0) {
    const of = {
      least,
      isDiscreet: sensitive === "discreet",
      scanId: scans.size === 1 ? [...scans][0] : undefined,
    };
    return strangers && ofScan.countAlarming(strangers, least) > 0 ? readUnwatched(strangers, of) : undefined;
  }
  const aboutThese = worstFirst.filter((each) => each.people.size > 0).map(({ breachId }) => breachId);
  const unwatched = strangers && besides(strangers, least, discreetPeople > 0 ? [] : aboutThese);
  // Other messages about the scan may name the people: neither the link nor a thread leads to them.
  const scanId = scans.size === 1 && discreetPeople === 0 ? [...scans][0] : undefined;
  const isFew = totals.isWhole && discreetPeople === 0 && people <= fewPeople && event.baseline === undefined;
  const persons = isFew ? await readPersons(org, scanId, totals.few) : [];
  const [person] = persons;
  if (person !== undefined && persons.length === 1 && event.without === undefined)
    return { ...person, unwatched };
  const [worst] = worstFirst;
  return {
    kind: event.baseline === undefined ? "findings" : "baseline",
    breaches: shownBreaches(worstFirst, details, discreetPeople > 0),
    persons,
    discreetPeople,
    people,
    isPart: !totals.isWhole,
    inAll: {
      worst: worst && withSeverity(details.get(worst.breachId), worst.level),
      more: worstFirst.length - 1,
      findings: Object.values(totals.bySeverity).reduce((sum, count) => sum + count),
      people: peopleIn(open.map(({ everybody }) => everybody)),
    },
    ...(event.only && { stage: "first" as const }),
    ...(event.without && { stage: "last" as const }),
    bySeverity: totals.bySeverity,
    ...event.baseline,
    unwatched,
    scanId,
  };
};

/**
 * What was found of a breach. Ids of e-mails: `everybody`, and the `people` whom this message tells of;
 * `first`: addresses of the first of these.
 */
type BreachFindings = {
  breachId: number;
  level: number;
  findings: number;
  everybody: Set<number>;
  people: Set<number>;
  first: string[];
  websites: Set<string>;
};

/** `few`: the findings that are told of the first people, one more than a message names each. */
type FindingsByBreach = {
  byBreach: Map<number, BreachFindings>;
  bySeverity: Record<Severity, number>;
  isWhole: boolean;
  few: ScanFinding[];
};

const readFindings = async (
  org: number,
  scans: ReadonlySet<number>,
  event: Gathered,
  least: number,
): Promise<FindingsByBreach> => {
  const { bySeverity, isWhole, rows } = await (event.opened === undefined
    ? findingsOfScans(org, scans)
    : openFindings(org, event.opened));
  const totals: FindingsByBreach = { byBreach: new Map(), bySeverity: { ...bySeverity }, isWhole, few: [] };
  const people = new Set<number>();
  for await (const some of rows()) {
    for (const row of some) {
      const level = findings.groupOf(row).severity;
      const isOfEvent = isOfDelivery(event, row);
      if (level < least) continue;
      if (!isForPeople(row)) {
        // Those that rules have ended are not counted.
        if (row.isToldApart && findings.groupOf(row).endedBy === 0) totals.bySeverity[severityAt(level)]--;
        continue;
      }
      // Only the last of two messages counts what others tell.
      if (event.without === undefined && !isOfEvent) {
        totals.bySeverity[severityAt(level)]--;
        continue;
      }
      const ofBreach = totals.byBreach.get(row.breachId) ?? newBreach(row.breachId, level);
      totals.byBreach.set(row.breachId, ofBreach);
      ofBreach.findings++;
      ofBreach.everybody.add(row.emailId);
      if (!isOfEvent) continue;
      ofBreach.people.add(row.emailId);
      if (ofBreach.first.length < maximumNamed) ofBreach.first.push(row.email);
      for (const website of row.stealerLogDomains ?? [])
        if (ofBreach.websites.size < maximumWebsites) ofBreach.websites.add(website);
      if (people.size <= fewPeople) people.add(row.emailId);
      if (people.has(row.emailId)) totals.few.push(row);
    }
  }
  for (const severity of severities) if (levelOf(severity) < least) totals.bySeverity[severity] = 0;
  return totals;
};

const newBreach = (breachId: number, level: number): BreachFindings => ({
  breachId,
  level,
  findings: 0,
  everybody: new Set(),
  people: new Set(),
  first: [],
  websites: new Set(),
});

const peopleIn = (sets: readonly Set<number>[]): number => new Set(sets.flatMap((each) => [...each])).size;

const withSeverity = (breach: Breach | undefined, level: number): Breach | undefined =>
  breach && { ...breach, severity: severityAt(level) };

/**
 * The breaches that a message tells of. Without names where readers would take these for the people of a
 * sensitive breach.
 */
const shownBreaches = (
  worstFirst: readonly BreachFindings[],
  details: ReadonlyMap<number, Breach>,
  isNameless: boolean,
): SummaryBreach[] => {
  const names = new Set<string>();
  return worstFirst.flatMap(({ breachId, level, people, first, websites }) => {
    const breach = withSeverity(details.get(breachId), level);
    if (breach === undefined || people.size === 0) return [];
    const named = first.filter((email) => {
      if (names.size < maximumNamed && !isNameless) names.add(email);
      return names.has(email);
    });
    return [{ ...breach, people: people.size, named, stealerLogDomains: [...websites] }];
  });
};

/** Those of an e-mail in one report, the worst first. */
const readPersons = async (
  org: number,
  scanId: number | undefined,
  rows: readonly ScanFinding[],
): Promise<PersonReport[]> => {
  const persons = await Promise.all(
    [...Map.groupBy(rows, ({ emailId }) => emailId)].map(([id, ofEmail]) => {
      const breachIds = ofEmail.map(({ breachId }) => breachId);
      const email = { id, findingIds: ofEmail.map((row) => row.id) };
      return readPerson(org, { breachIds, email, ...(scanId !== undefined && { scanId }) });
    }),
  );
  const worstOf = ({ breaches: [worst] }: PersonReport): number => (worst ? levelOf(worst.severity) : 0);
  return persons.toSorted((one, other) => worstOf(other) - worstOf(one));
};

export const readRisen = async (
  { breachId, people, reopened }: Extract<AlertEvent, { type: "risen" }>,
  isDiscreet: boolean,
): Promise<Summary | undefined> => {
  const breach = (await breachDetails.details([breachId])).get(breachId);
  if (breach === undefined) return undefined;
  const isNamed = !(isDiscreet && breach.isSensitive);
  const named = isNamed ? people : 0;
  return {
    kind: "risen",
    breaches: isNamed ? [{ ...breach, people, named: [], stealerLogDomains: [] }] : [],
    persons: [],
    discreetPeople: people - named,
    people: named,
    inAll: { worst: isNamed ? breach : undefined, more: 0, findings: named, people: named },
    reopened,
    scanId: undefined,
  };
};
