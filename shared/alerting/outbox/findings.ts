/** Findings that a scan has recorded: webhooks and owners are told at once, the others of the scan as a whole. */
import * as queue from "../../aws/queue/queue.ts";
import { asRead, condition, exists, type Write } from "../../aws/table/condition.ts";
import type { Key } from "../../aws/table/keys.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import { levelOf } from "../../hibp/severity.ts";
import { blockOf } from "../../lists/blocks.ts";
import type { NewFindings, Reopened } from "../../outbox/outbox.ts";
import { type Channel, list, optionsOf, wants } from "../channels/channel.ts";
import { raiseFor } from "../deliveries/delivery.ts";
import { kindOf } from "../kinds/kinds.ts";
import { isForPeople } from "../messages/scan-findings.ts";
import { leastForOwners } from "../owners/owner.ts";
import { tellOwners } from "../owners/tell.ts";
import { apartFor, type Collecting, collected, writeOf } from "./collecting.ts";
import { settle } from "./settle.ts";
import { singlesFor } from "./singles.ts";

/** `done`: the channels whose events are written. */
export type FindingsRow = Key & NewFindings & { done?: Set<number> };

/** Rows that are taken off at once where nobody is told of single addresses. */
const rowsAtOnce = 90;

/** Deliveries of one transaction, which leaves room for the rows of their lists and of the outbox. */
const deliveriesAtOnce = 90;

/** Deals with rows of one scan. False: another worker has. */
export const reportFindings = async (
  org: number,
  before: Collecting | undefined,
  rows: readonly FindingsRow[],
  { firstMessageSeconds }: { firstMessageSeconds: number },
): Promise<boolean> => {
  const [first] = rows;
  if (first === undefined) return true;
  const all = await list(org);
  const wanting = all.filter((channel) => wants(channel, "breach"));
  const least = first.isFirst ? undefined : leastForOwners(all);
  const groupingOf = (channel: Channel): string =>
    before?.groupings[channel.id] ?? optionsOf(channel).grouping;
  const singly = wanting.filter((channel) => groupingOf(channel) === "address");
  const isAtOnce = singly.length > 0 || least !== undefined;
  const taken = isAtOnce ? [first] : rows.slice(0, rowsAtOnce);
  const after = collected(before, taken, wanting, firstMessageSeconds);
  const collects = after === undefined ? [] : [writeOf(org, before, after)];
  if (isAtOnce) {
    const recorded = await findingsOf(org, first);
    if (least !== undefined) await tellOwnersFrom(org, recorded.filter(isForPeople), least);
    if (!(await reportSingly(org, first, recorded, singly, collects))) return false;
  } else if (!(await settle(org, taken.map(takenOff), undefined, collects))) return false;
  if (before?.firstMessageAt === undefined && after?.firstMessageAt !== undefined) {
    // If SQS does not take it, the row is due soon after.
    const delayed = { delaySeconds: Math.ceil(firstMessageSeconds), group: String(org) };
    await queue.send("outbox", { organizationId: org }, delayed).catch(() => {});
  }
  return true;
};

/** Tells one channel of findings that it had gathered before it became a webhook. */
export const reportGathered = async (org: number, row: FindingsRow): Promise<boolean> => {
  const channel = (await list(org)).find(({ id }) => id === row.to);
  return reportSingly(org, row, await findingsOf(org, row), channel === undefined ? [] : [channel]);
};

/** Ids of one transaction follow each other. A query of a range costs less than its rows one by one. */
const findingsOf = async (org: number, { findingIds }: FindingsRow): Promise<FindingRecord[]> => {
  const ranges = [...Map.groupBy(findingIds, blockOf)].map(([block, ids]) =>
    findings.members(org, block, { fromId: Math.min(...ids), toId: Math.max(...ids) }),
  );
  return (await Promise.all(ranges)).flat().filter(({ id }) => findingIds.has(id));
};

const takenOff = ({ pk, sk }: Key): Write => ({ delete: { pk, sk }, if: exists });

/** How many findings one message names at most. */
const openedAtOnce = 1_000;

export type ReopenedRow = Key & Reopened;

/**
 * Tells people of findings that rules have opened again, as of new ones. Each channel gets one message. Webhooks
 * had their event when the findings were recorded. False: another worker has told it.
 */
export const reportReopened = async (org: number, rows: readonly ReopenedRow[]): Promise<boolean> => {
  const ids = rows.flatMap(({ findingIds }) => [...findingIds]);
  const all = await list(org);
  const open = (await findings.getMany(org, ids))
    .filter((row) => row !== undefined)
    .filter((row) => !findings.groupOf(row).acknowledged);
  const least = leastForOwners(all);
  if (least !== undefined) await tellOwnersFrom(org, open, least);
  const wanted = all
    .filter((channel) => kindOf(channel).isForPeople && wants(channel, "breach"))
    .flatMap((channel) => {
      const leastOfChannel = levelOf(optionsOf(channel).minSeverity);
      const opened = open
        .filter((row) => findings.groupOf(row).severity >= leastOfChannel)
        .map(({ id }) => id);
      return opened.length === 0 ? [] : [{ channel, event: { type: "gathered" as const, opened } }];
    });
  return settle(org, rows.map(takenOff), await raiseFor(org, wanted));
};

/** The first rows of one request, with as many findings as a message names. */
export const rowsOfReopened = (rows: readonly ReopenedRow[]): ReopenedRow[] => {
  const taken: ReopenedRow[] = [];
  let count = 0;
  for (const row of rows) {
    count += row.findingIds.size;
    if (taken.length > 0 && (count > openedAtOnce || row.requestId !== taken[0]?.requestId)) break;
    taken.push(row);
  }
  return taken;
};

/** In transactions of its own, since a finding names the delivery that told its owner. Safe to repeat. */
const tellOwnersFrom = async (
  org: number,
  recorded: readonly FindingRecord[],
  least: number,
): Promise<void> => {
  const due = recorded.filter((row) => findings.groupOf(row).severity >= least);
  const { messages } = await tellOwners(
    org,
    due.map(({ id }) => id),
  );
  await queue.sendPossible("deliveries", messages);
};

/** Writes the events of a row, those of a channel in one transaction. The last one takes the row off. */
const reportSingly = async (
  org: number,
  row: FindingsRow,
  recorded: readonly FindingRecord[],
  channels: readonly Channel[],
  also: readonly Write[] = [],
): Promise<boolean> => {
  const { done = new Set<number>(), pk, sk } = row;
  const left = channels
    .filter(({ id }) => !done.has(id))
    .map((channel) => {
      const told = kindOf(channel).isForPeople ? recorded.filter(isForPeople) : recorded;
      return { channel, events: singlesFor(channel, row, told) };
    });
  const some: typeof left = [];
  for (let count = 0; left[0] !== undefined; some.push(...left.splice(0, 1))) {
    count += left[0].events.length;
    if (count > deliveriesAtOnce && some.length > 0) break;
  }
  const raised = await raiseFor(
    org,
    some.flatMap(({ channel, events }) => events.map((event) => ({ channel, event }))),
  );
  if (left.length === 0) return settle(org, [takenOff(row)], raised, also);
  const channelIds = new Set(some.map(({ channel }) => channel.id));
  const progress: Write = { update: { pk, sk }, add: { done: channelIds }, if: isAsRead(row) };
  return settle(org, [progress], raised);
};

const isAsRead = ({ done }: FindingsRow) =>
  done === undefined ? condition("attribute_exists(#pk) AND attribute_not_exists(#done)") : asRead({ done });

/** The first of at most two messages of a scan, which still runs. */
export const reportSoFar = async (org: number, before: Collecting): Promise<boolean> => {
  const { scanId, groupings, firstMessageAt: _, ...rest } = before;
  const due = (await list(org)).filter(
    (channel) => groupings[channel.id] === "scan" && kindOf(channel).isForPeople && wants(channel, "breach"),
  );
  const reported = Object.fromEntries(due.map((channel) => [channel.id, apartFor(before, channel)]));
  const after: Collecting = { ...rest, scanId, groupings, reported, step: before.step + 1 };
  const raised = await raiseFor(
    org,
    due.map((channel) => ({
      channel,
      event: { type: "gathered", scanId, only: { ranges: before.ranges, apart: reported[channel.id] ?? [] } },
      scans: new Set([scanId]),
    })),
  );
  return settle(org, [writeOf(org, before, after)], raised);
};
