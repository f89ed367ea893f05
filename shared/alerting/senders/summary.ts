/** What a message says that is about more than one person, or that may name none. */
import { findings } from "../../findings/record.ts";
import type { Breach } from "../../monitoring/hibp/breach.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import { levelOf, severityAt } from "../../monitoring/hibp/severity.ts";
import { type Severity, severities } from "../../monitoring/hibp/severity-schema.ts";
import { type Channel, optionsOf } from "../channels/channel.ts";
import type { AlertEvent, Gathered } from "../deliveries/delivery.ts";
import { foundIn } from "../gathering/found.ts";

/** A message names at most this many people, those of the worst breaches. */
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

/** `found`: new breaches; `baseline`: what the first scan found; `risen`: a breach is worse than it was thought. */
export type Summary = {
  kind: "found" | "baseline" | "risen";
  /** Worst first. Sensitive ones only where the channel may name them. */
  breaches: SummaryBreach[];
  /** People in sensitive breaches that the channel must not name. */
  discreetPeople: number;
  /** In `breaches`. No number counts both these people and those of `discreetPeople`: its difference to others would say who they are. */
  people: number;
  /** There are so many findings that people were counted in some of them only: there are at least as many. */
  isPart?: boolean;
  /** Of all that the scans found for the channel, also what other messages told, without `discreetPeople`. */
  totals: { findings: number; people: number };
  /** Of `totals.findings`. */
  bySeverity?: Record<Severity, number>;
  /** Of a baseline: how many addresses were checked. */
  scannedCount?: number;
  /** Of a risen breach: how many findings are open again. */
  reopened?: number;
  /** The scan of all findings; undefined when there are several. */
  scanId: number | undefined;
};

export const readGathered = async (
  org: number,
  { told, toldTo = 0, baseline }: Gathered,
  scans: ReadonlySet<number>,
  channel: Channel,
): Promise<Summary | undefined> => {
  const { minSeverity, sensitive } = optionsOf(channel);
  const least = levelOf(minSeverity);
  const alreadyTold = new Set(told);
  const byBreach = new Map<number, BreachFound>();
  const { bySeverity, isWhole, rows } = await foundIn(org, scans);
  for await (const some of rows()) {
    for (const row of some) {
      const level = findings.groupOf(row).severity;
      if (level < least) continue;
      const ofBreach = byBreach.get(row.breachId) ?? {
        level,
        findings: 0,
        everybody: new Set(),
        people: new Set(),
        first: [],
        websites: new Set(),
      };
      byBreach.set(row.breachId, ofBreach);
      ofBreach.findings++;
      ofBreach.everybody.add(row.emailId);
      if (row.id <= toldTo || alreadyTold.has(row.id)) continue;
      ofBreach.people.add(row.emailId);
      if (ofBreach.first.length < maximumNamed) ofBreach.first.push(row.email);
      for (const website of row.stealerLogDomains ?? [])
        if (ofBreach.websites.size < maximumWebsites) ofBreach.websites.add(website);
    }
  }
  const details = await breachDetails.details(byBreach.keys());
  const { open = [], discreet = [] } = Object.groupBy(byBreach, ([breachId]) =>
    sensitive === "discreet" && details.get(breachId)?.isSensitive ? "discreet" : "open",
  );
  const worstFirst = open
    .filter(([, { people }]) => people.size > 0)
    .sort(([, one], [, other]) => other.level - one.level || other.people.size - one.people.size);
  const discreetPeople = peopleOf(discreet, "people");
  if (worstFirst.length === 0 && discreetPeople === 0) return undefined;
  for (const severity of severities) if (levelOf(severity) < least) bySeverity[severity] = 0;
  for (const [, { level, findings }] of discreet) bySeverity[severityAt(level)] -= findings;
  const named = new Set<string>();
  const breaches = worstFirst.flatMap(([breachId, { level, people, first, websites }]) => {
    const breach = details.get(breachId);
    if (breach === undefined) return [];
    const shown = first.filter((email) => {
      // Readers would take whom it names for the people of the sensitive breach.
      if (named.size < maximumNamed && discreetPeople === 0) named.add(email);
      return named.has(email);
    });
    const severity = severityAt(level);
    return [{ ...breach, severity, people: people.size, named: shown, stealerLogDomains: [...websites] }];
  });
  return {
    kind: baseline === undefined ? "found" : "baseline",
    breaches,
    discreetPeople,
    people: peopleOf(worstFirst, "people"),
    isPart: !isWhole,
    totals: {
      findings: Object.values(bySeverity).reduce((sum, count) => sum + count),
      people: peopleOf(open, "everybody"),
    },
    bySeverity,
    ...baseline,
    // Other messages about the scan may name the people: neither the link nor a thread leads to them.
    scanId: scans.size === 1 && discreetPeople === 0 ? [...scans][0] : undefined,
  };
};

/** What was found of a breach. Ids of e-mails: `everybody`, and the `people` whom this message tells of; `first`: addresses of the first of these. */
type BreachFound = {
  level: number;
  findings: number;
  everybody: Set<number>;
  people: Set<number>;
  first: string[];
  websites: Set<string>;
};

const peopleOf = (found: readonly [number, BreachFound][], which: "everybody" | "people"): number =>
  new Set(found.flatMap(([, each]) => [...each[which]])).size;

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
    discreetPeople: people - named,
    people: named,
    totals: { findings: named, people: named },
    reopened,
    scanId: undefined,
  };
};
