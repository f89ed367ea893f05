/**
 * What a message says that is about more than one person, or that may name none. Read when the message is sent, as a report is: addresses are in
 * no delivery.
 */
import { findings } from "../../findings/record.ts";
import { adviceOf } from "../../monitoring/hibp/advice.ts";
import type { Breach } from "../../monitoring/hibp/breach.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import { levelOf, severityAt } from "../../monitoring/hibp/severity.ts";
import type { Severity } from "../../monitoring/hibp/severity-schema.ts";
import { type Channel, optionsOf } from "../channels/channel.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { type FoundRow, foundIn } from "../gathering/found.ts";
import { type OwnerReport, readOwnerReport } from "./owner-report.ts";
import { type Report, readReport } from "./report.ts";

/** A message names at most this many people, those of the worst breaches. */
const maximumNamed = 10;

export type SummaryBreach = {
  title: string;
  domain: string;
  severity: Severity;
  dataClasses: string[];
  /** The steps of the first advice. */
  advice: string[];
  people: number;
  /** Addresses of some of them. */
  named: string[];
};

/** `found`: new breaches; `baseline`: what the first scan found; `risen`: a breach is worse than it was thought. */
export type Summary = {
  kind: "found" | "baseline" | "risen";
  /** Worst first. Sensitive ones only where the channel may name them. */
  breaches: SummaryBreach[];
  /** People in sensitive breaches that the channel must not name. */
  discreetPeople: number;
  /** Of all that the scans found, also what other messages told. */
  totals: { findings: number; people: number; bySeverity: Record<Severity, number> };
  /** Of a baseline: how many addresses were checked. */
  totalEmails?: number;
  /** Of a risen breach: how many findings are open again. */
  reopened?: number;
  /** The scan of all findings; undefined when there are several. */
  scanId: number | undefined;
};

/** What an attempt tells a channel. Undefined: nothing is left to tell, or the channel's kind has no such message. */
export const readContent = async (
  org: number,
  { event, scans = new Set() }: Delivery,
  channel: Channel,
): Promise<Report | Summary | OwnerReport | undefined> => {
  if (event.type === "owner") return readOwnerReport(org, event);
  const isDiscreet = optionsOf(channel).sensitive === "discreet";
  const isWebhook = channel.channel === "webhook";
  if (event.type === "gathered") return isWebhook ? undefined : readGathered(org, event, scans, channel);
  if (event.type === "risen") return isWebhook ? undefined : readRisen(event, isDiscreet);
  const report = await readReport(org, event, { forPeople: !isWebhook });
  // Also where HIBP calls the breach sensitive, or the channel is discreet, since the delivery was created.
  if (event.type !== "breach" || isWebhook || !isDiscreet || report.isSensitive !== true) return report;
  return {
    kind: "found",
    breaches: [],
    discreetPeople: 1,
    totals: { findings: event.breachIds.length, people: 1, bySeverity: none() },
    scanId: undefined,
  };
};

const none = (): Record<Severity, number> => ({ critical: 0, high: 0, medium: 0, low: 0 });

const readGathered = async (
  org: number,
  { told, baseline }: Extract<Delivery["event"], { type: "gathered" }>,
  scans: ReadonlySet<number>,
  channel: Channel,
): Promise<Summary | undefined> => {
  const { minSeverity, sensitive } = optionsOf(channel);
  const alreadyTold = new Set(told);
  const bySeverity = none();
  const people = new Set<number>();
  const byBreach = new Map<number, { level: number; rows: FoundRow[] }>();
  let all = 0;
  for await (const rows of foundIn(org, scans)) {
    for (const row of rows) {
      const level = findings.groupOf(row).severity;
      all++;
      bySeverity[severityAt(level)]++;
      people.add(row.emailId);
      const isTold = alreadyTold.has(row.id) || (baseline === undefined && level < levelOf(minSeverity));
      if (isTold) continue;
      const ofBreach = byBreach.get(row.breachId) ?? { level, rows: [] };
      ofBreach.rows.push(row);
      byBreach.set(row.breachId, ofBreach);
    }
  }
  if (byBreach.size === 0) return undefined;
  const details = await breachDetails.details(byBreach.keys());
  const isNamed = (breachId: number): boolean =>
    sensitive === "named" || details.get(breachId)?.isSensitive !== true;
  const worstFirst = [...byBreach].sort(
    ([, one], [, other]) => other.level - one.level || other.rows.length - one.rows.length,
  );
  const named = new Set<string>();
  const breaches = worstFirst.flatMap(([breachId, { level, rows }]) => {
    const breach = details.get(breachId);
    return breach !== undefined && isNamed(breachId)
      ? [breachOf(breach, severityAt(level), rows, named)]
      : [];
  });
  const discreet = worstFirst.flatMap(([breachId, { rows }]) => (isNamed(breachId) ? [] : rows));
  return {
    kind: baseline === undefined ? "found" : "baseline",
    breaches,
    discreetPeople: new Set(discreet.map(({ emailId }) => emailId)).size,
    totals: { findings: all, people: people.size, bySeverity },
    ...baseline,
    scanId: scans.size === 1 ? [...scans][0] : undefined,
  };
};

/** `named`: the addresses that the message names already. */
const breachOf = (
  breach: Breach,
  severity: Severity,
  rows: readonly FoundRow[],
  named: Set<string>,
): SummaryBreach => {
  const shown: string[] = [];
  for (const { email } of rows) {
    if (shown.length === maximumNamed) break;
    if (!named.has(email) && named.size === maximumNamed) continue;
    named.add(email);
    shown.push(email);
  }
  const { title, domain, dataClasses } = breach;
  const advice = adviceOf(breach)[0]?.steps ?? [];
  return { title, domain, severity, dataClasses, advice, people: rows.length, named: shown };
};

const readRisen = async (
  { breachId, people, reopened }: Extract<Delivery["event"], { type: "risen" }>,
  isDiscreet: boolean,
): Promise<Summary | undefined> => {
  const breach = (await breachDetails.details([breachId])).get(breachId);
  if (breach === undefined) return undefined;
  const isNamed = !(isDiscreet && breach.isSensitive);
  return {
    kind: "risen",
    breaches: isNamed ? [{ ...breachOf(breach, breach.severity, [], new Set()), people }] : [],
    discreetPeople: isNamed ? 0 : people,
    totals: { findings: people, people, bySeverity: { ...none(), [breach.severity]: people } },
    reopened,
    scanId: undefined,
  };
};
