/**
 * The end of a scan: the last message of each channel that is told of scans as a whole, and what became of the scan.
 */
import * as queue from "../../aws/queue/queue.ts";
import { exists, type Write } from "../../aws/table/condition.ts";
import type { Key } from "../../aws/table/keys.ts";
import { findings } from "../../findings/record.ts";
import { levelOf } from "../../hibp/severity.ts";
import * as ofScan from "../../monitoring/unwatched/of-scan.ts";
import { type Ended, keyOfScan } from "../../outbox/outbox.ts";
import { type Channel, list, optionsOf, wants } from "../channels/channel.ts";
import type { Grouping } from "../channels/channel-schema.ts";
import { type AlertEvent, raise, raiseFor, type Wanted } from "../deliveries/delivery.ts";
import { kindOf } from "../kinds/kinds.ts";
import { findingsOfScans, isForPeople, type ScanFinding } from "../messages/scan-findings.ts";
import { leastForOwners } from "../owners/owner.ts";
import { tellOwners } from "../owners/tell.ts";
import { type Collecting, reportedTo } from "./collecting.ts";
import { settle } from "./settle.ts";
import { joinWindow } from "./window.ts";

/** A first scan that finds more people is summed up, and their owners are not told. */
const fewPeople = 5;

/** All findings of the scan were dealt with before. False: another worker has dealt with its end. */
export const reportEnd = async (
  org: number,
  { pk, sk, ...ended }: Ended & Key,
  collecting: Collecting | undefined,
): Promise<boolean> => {
  const { scanId, isFirst, isCompleted, scannedCount } = ended;
  const all = await list(org);
  const unwatched = await ofScan.read(org, [scanId]);
  /** They were not told of findings, and are told of addresses that nobody watches. */
  const alarmed = (channel: Channel): Grouping => {
    const { minSeverity, grouping } = optionsOf(channel);
    const isReceiver = kindOf(channel).isForPeople && wants(channel, "breach");
    return isReceiver && ofScan.countAlarming(unwatched, levelOf(minSeverity)) > 0 ? grouping : "address";
  };
  const groupingOf = (channel: Channel) => collecting?.groupings[channel.id] ?? alarmed(channel);
  const gathering = all.filter((channel) => groupingOf(channel) !== "address");
  const least = isFirst ? leastForOwners(all) : undefined;
  const isAsked = ended.newBreachCount > 0 && (gathering.length > 0 || least !== undefined);
  const firstFindings = isFirst && isAsked ? await readFirstFindings(org, scanId) : undefined;
  const isMany = firstFindings !== undefined && firstFindings.people > fewPeople;
  const isBaseline = isMany && isCompleted;
  // Of a scan that failed too, since the next does not find these findings again. In transactions of their
  // own, which may be repeated.
  if (least !== undefined && firstFindings !== undefined && !isMany) {
    const { messages } = await tellOwners(org, findingsFrom(least, firstFindings.rows));
    await queue.sendPossible("deliveries", messages);
  }
  const wanted: Wanted[] = [];
  const windows: Awaited<ReturnType<typeof joinWindow>>[] = [];
  for (const channel of gathering) {
    const grouping = groupingOf(channel);
    const isToWait = !isBaseline && kindOf(channel).isForPeople;
    if (isToWait && (grouping === "day" || grouping === "week")) {
      windows.push(await joinWindow(org, channel, scanId, grouping));
      continue;
    }
    const without = collecting && reportedTo(collecting, channel);
    // A webhook gets one event of a first scan, however few people are in it.
    const isSummedUp = isBaseline || (isFirst && !kindOf(channel).isForPeople);
    const baseline = isSummedUp ? { scannedCount } : undefined;
    const event = {
      type: "gathered" as const,
      scanId,
      ...(without && { without }),
      ...(baseline && { baseline }),
    };
    wanted.push({ channel, event, scans: new Set([scanId]) });
  }
  // One after the other: two calls that reserve ids at once meet on one row.
  const gathered = await raiseFor(org, wanted);
  const raised = await raise(org, all, eventsOf(ended));
  const off: Write[] = [
    { delete: { pk, sk }, if: exists },
    ...(collecting === undefined ? [] : [{ delete: keyOfScan(org, scanId, "collecting") }]),
  ];
  const writes = [...gathered.writes, ...windows.flatMap(({ members }) => members), ...raised.writes];
  const messages = [...gathered.messages, ...raised.messages];
  return settle(
    org,
    off,
    { writes, messages },
    windows.flatMap(({ also }) => also),
  );
};

/** Who a scan found, up to the first block with which it is to be summed up. */
const readFirstFindings = async (
  org: number,
  scanId: number,
): Promise<{ people: number; rows: ScanFinding[] }> => {
  const rows: ScanFinding[] = [];
  const people = new Set<number>();
  const ofScan = await findingsOfScans(org, new Set([scanId]));
  for await (const all of ofScan.rows()) {
    const some = all.filter(isForPeople);
    rows.push(...some);
    for (const { emailId } of some) people.add(emailId);
    if (people.size > fewPeople) break;
  }
  return { people: people.size, rows };
};

const findingsFrom = (least: number, rows: readonly ScanFinding[]): number[] =>
  rows.filter((row) => findings.groupOf(row).severity >= least).map(({ id }) => id);

/** One event says that the scan completed, one that something failed. */
const eventsOf = (ended: Omit<Ended, "type">): AlertEvent[] => {
  const { scanId, isCompleted, scannedCount, newBreachCount, failedCount, totalEmails, error } = ended;
  return [
    ...(isCompleted
      ? [{ type: "scan_complete", scanId, scannedCount, newBreachCount, failedCount, totalEmails } as const]
      : []),
    ...(error === null ? [] : [{ type: "scan_error", scanId, error } as const]),
  ];
};
