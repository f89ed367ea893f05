/**
 * What a scan has held back (early.ts) goes out with its end, in the transaction that ends it: to each channel as one message, whose
 * delivery names the scan, and the findings that were told already. What the message says is read when it is sent.
 */
import { asRead, condition, type Write } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { findings } from "../../findings/record.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import { type Channel, groupingIn } from "../channels/channel.ts";
import type { Grouping } from "../channels/channel-schema.ts";
import { deliveries, type Raised, raiseFor, reserveIds, type Wanted } from "../deliveries/delivery.ts";
import { leastTold } from "../owners/owner.ts";
import { tell } from "../owners/tell.ts";
import { eventsFor, type Found, maximumEarly, readTold, type ScanOfFindings, type Told } from "./early.ts";
import { type FoundRow, foundIn } from "./found.ts";

/** A first scan that finds more people is summed up, and a channel gets at most this many messages of single people. */
const fewPeople = maximumEarly + 1;

/** Single messages that the transaction of a scan's end has room for, with those to 20 channels that the scan has ended. */
const maximumSingles = 20;

/** The most breaches that one event names; as of scans. */
const breachesPerEvent = 75;

export type EndedScan = ScanOfFindings & { isCompleted: boolean; totalEmails: number };

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
  const found = await firstFound(org, scan.id);
  const isBaseline = scan.isFirst && scan.isCompleted && found.people > fewPeople;
  // A scan that failed tells them too, since the next does not find these findings again. In transactions of their own: those that were
  // told already are not told by another try to end the scan.
  const toOwners =
    leastOfOwners === undefined || found.people > fewPeople
      ? []
      : (await tell(org, findingsFrom(leastOfOwners, found.byEmail))).messages;
  const scans = new Set([scan.id]);
  const wanted: Wanted[] = [];
  const windows: Writes[] = [];
  for (const channel of holding) {
    const before = told.get(channel.id) as Told;
    const grouping = groupingIn(channel, scan.id);
    const events = found.isWhole ? eventsOf(channel, scan.id, before, found.byEmail) : undefined;
    const summary: Wanted = {
      channel,
      scans,
      event: { type: "gathered", scanId: scan.id, told: [...before.findings] },
    };
    if (isBaseline) {
      const { totalEmails } = scan;
      wanted.push({
        ...summary,
        event: { type: "gathered", scanId: scan.id, told: [], baseline: { totalEmails } },
      });
    } else if (events?.length === 0) {
      // The option changed since, or the e-mails were removed.
    } else if (grouping === "day" || grouping === "week") {
      windows.push(await joinWindow(org, channel, scan.id, grouping));
    } else if (
      events !== undefined &&
      events.length <= fewPeople - before.messages &&
      wanted.length + events.length <= maximumSingles &&
      events.every((event) => event.type === "breach" && event.breachIds.length <= breachesPerEvent)
    ) {
      wanted.push(...events.map((event) => ({ channel, event })));
    } else wanted.push(summary);
  }
  const raised = await raiseFor(org, wanted);
  return {
    writes: [...raised.writes, ...windows.flatMap(({ members }) => members)],
    messages: [...toOwners, ...raised.messages],
    others: windows.flatMap(({ others }) => others),
  };
};

/** More people than can be told one by one beside those who were told early. */
const enoughPeople = fewPeople + maximumEarly;

/** Who a scan found, up to the first block with which there are too many for single messages: then not `isWhole`. */
const firstFound = async (
  org: number,
  scanId: number,
): Promise<{ people: number; isWhole: boolean; byEmail: Found[] }> => {
  const rows: FoundRow[] = [];
  const people = new Set<number>();
  const found = await foundIn(org, new Set([scanId]));
  for await (const some of found.rows()) {
    rows.push(...some);
    for (const { emailId } of some) people.add(emailId);
    if (people.size > enoughPeople) return { people: people.size, isWhole: false, byEmail: [] };
  }
  const details = await breachDetails.details(rows.map(({ breachId }) => breachId));
  const byEmail = [...Map.groupBy(rows, ({ emailId }) => emailId)].map(([emailId, ofEmail]) => ({
    emailId,
    breaches: ofEmail.map((row) => ({
      breachId: row.breachId,
      findingId: row.id,
      level: findings.groupOf(row).severity,
      isSensitive: details.get(row.breachId)?.isSensitive ?? false,
    })),
  }));
  return { people: people.size, isWhole: true, byEmail };
};

const findingsFrom = (least: number, byEmail: readonly Found[]): number[] =>
  byEmail.flatMap(({ breaches }) =>
    breaches.filter(({ level }) => level >= least).map(({ findingId }) => findingId),
  );

const eventsOf = (channel: Channel, scanId: number, told: Told, byEmail: readonly Found[]) =>
  byEmail.flatMap(({ emailId, breaches }) =>
    eventsFor(channel, scanId, {
      emailId,
      breaches: breaches.filter(({ findingId }) => !told.findings.has(findingId)),
    }),
  );

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
