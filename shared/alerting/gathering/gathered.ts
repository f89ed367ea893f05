/**
 * What a scan has held back (early.ts) goes out with its end, in the transaction that ends it: to each channel as one message, whose
 * delivery names the scan, and the findings that were told already. What the message says is read when it is sent.
 */
import { asRead, condition, type Write } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { findings } from "../../findings/record.ts";
import { type Channel, groupingIn } from "../channels/channel.ts";
import type { Grouping } from "../channels/channel-schema.ts";
import { deliveries, type Raised, raiseFor, reserveIds, type Wanted } from "../deliveries/delivery.ts";
import { leastTold } from "../owners/owner.ts";
import { tell } from "../owners/tell.ts";
import { maximumEarly, readTold, type ScanOfFindings } from "./early.ts";
import { type FoundRow, foundIn } from "./found.ts";

/** A first scan that finds more people is summed up, and a channel gets at most this many messages of a scan. */
const fewPeople = maximumEarly + 1;

export type EndedScan = ScanOfFindings & { isCompleted: boolean; scannedCount: number };

/** The deliveries of what a scan held back. `others`: further writes of the transaction that ends it. */
export const raiseGathered = async (
  org: number,
  scan: EndedScan,
  channels: readonly Channel[],
): Promise<Raised & { others: Write[] }> => {
  const told = await readTold(org, scan.id, channels);
  const holding = channels.filter(({ id }) => told.get(id)?.isHeld === true);
  const leastOfOwners = scan.isFirst ? leastTold(channels) : undefined;
  if (holding.length === 0 && leastOfOwners === undefined) return { writes: [], messages: [], others: [] };
  const found = scan.isFirst ? await firstFound(org, scan.id) : undefined;
  const isMany = found !== undefined && found.people > fewPeople;
  const isBaseline = isMany && scan.isCompleted;
  // A scan that failed tells them too, since the next does not find these findings again. In transactions of their own: those that were
  // told already are not told by another try to end the scan.
  const toOwners =
    leastOfOwners === undefined || found === undefined || isMany
      ? []
      : (await tell(org, findingsFrom(leastOfOwners, found.rows))).messages;
  const { id: scanId, scannedCount } = scan;
  const wanted: Wanted[] = [];
  const windows: Writes[] = [];
  for (const channel of holding) {
    const { messages = 0, findings: alreadyTold = [] } = told.get(channel.id) ?? {};
    const grouping = groupingIn(channel, scanId);
    const isToWait = !isBaseline && channel.channel !== "webhook";
    if (isToWait && (grouping === "day" || grouping === "week")) {
      windows.push(await joinWindow(org, channel, scanId, grouping));
      continue;
    }
    const how = isBaseline ? { baseline: { scannedCount } } : { room: fewPeople - messages };
    const event = { type: "gathered" as const, scanId, told: [...alreadyTold], ...how };
    wanted.push({ channel, event, scans: new Set([scanId]) });
  }
  const raised = await raiseFor(org, wanted);
  return {
    writes: [...raised.writes, ...windows.flatMap(({ members }) => members)],
    messages: [...toOwners, ...raised.messages],
    others: windows.flatMap(({ others }) => others),
  };
};

/** Who a scan found, up to the first block with which it is to be summed up. */
const firstFound = async (org: number, scanId: number): Promise<{ people: number; rows: FoundRow[] }> => {
  const rows: FoundRow[] = [];
  const people = new Set<number>();
  const found = await foundIn(org, new Set([scanId]));
  for await (const some of found.rows()) {
    rows.push(...some);
    for (const { emailId } of some) people.add(emailId);
    if (people.size > fewPeople) break;
  }
  return { people: people.size, rows };
};

const findingsFrom = (least: number, rows: readonly FoundRow[]): number[] =>
  rows.filter((row) => findings.groupOf(row).severity >= least).map(({ id }) => id);

type Writes = { members: Raised["writes"]; others: Write[] };

/** The delivery that a channel gathers in until a time (ISO 8601). */
type Window = { deliveryId: number; until: string };

/** Adds a scan to the delivery that the channel gathers in, or begins one. The writes fail when that delivery is under way meanwhile. */
const joinWindow = async (
  org: number,
  channel: Channel,
  scanId: number,
  grouping: "day" | "week",
): Promise<Writes> => {
  const key = keys.gathering(org, channel.id);
  const until = endOfWindow(grouping, new Date()).toISOString();
  const window = await table.get<Window>(key);
  if (window?.until === until) {
    const row = await deliveries.get(org, window.deliveryId);
    if (row?.dueAt === until && row.attempts === 0) {
      const isOpen = condition("#dueAt = :until AND #attempts = :none", { until, none: 0 });
      const update = deliveries.key(org, row.id);
      return { members: [], others: [{ update, add: { scans: new Set([scanId]) }, if: isOpen }] };
    }
  }
  const reserved = await reserveIds(org, 1);
  const deliveryId = reserved[0]?.id ?? 0;
  const { writes } = await raiseFor(
    org,
    [{ channel, event: { type: "gathered", told: [] }, scans: new Set([scanId]), until }],
    reserved,
  );
  const begun: Write = {
    update: key,
    set: { deliveryId, until, [timeToLive]: Date.parse(until) / 1000 + 24 * 3600 },
    if: asRead({ deliveryId: window?.deliveryId }),
  };
  return { members: writes, others: [begun] };
};

const hourOfWindows = 7;
const monday = 1;

/** The next 07:00 UTC, or the next one of a Monday. */
export const endOfWindow = (grouping: Extract<Grouping, "day" | "week">, now: Date): Date => {
  const end = new Date(now);
  end.setUTCHours(hourOfWindows, 0, 0, 0);
  while (end <= now || (grouping === "week" && end.getUTCDay() !== monday))
    end.setUTCDate(end.getUTCDate() + 1);
  return end;
};
