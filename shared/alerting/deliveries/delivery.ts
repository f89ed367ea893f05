/**
 * Deliveries: one row per event and channel, written in the transaction that takes the event off the outbox. Every
 * delivery ends as delivered or given up, because the row says when its next step is due (`dueAt`); a message
 * only wakes a worker. transitions.ts holds all later changes.
 */

import type { Sending } from "../../aws/queue/queue.ts";
import type { Write } from "../../aws/table/condition.ts";
import { dueShard } from "../../aws/table/keys.ts";
import { lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import type { Message } from "../../contract/messages.ts";
import * as counts from "../../counts/counts.ts";
import { type Reserved, reserve } from "../../lists/blocks.ts";
import { countedList } from "../../lists/counted-list.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import { type AnyChannel, type Channel, type WaitsFor, wants } from "../channels/channel.ts";
import type { EventType } from "../kinds/events.ts";
import type { DeliveryStatus } from "./delivery-schema.ts";
import type { Share } from "./share.ts";

/** `scanId`: the scan in which it happened, if it was in one. */
export type AlertEvent = { scanId?: number } & Happening;

/** What happened. It holds ids only: each attempt reads the details (messages/content.ts). */
type Happening =
  | ({ type: "breach" } & PersonEvent)
  | OwnerEvent
  | Gathered
  /** A breach whose severity has risen; `people` are those whose findings followed. */
  | { type: "risen"; breachId: number; people: number; reopened: number }
  | {
      type: "scan_complete";
      scannedCount: number;
      newBreachCount: number;
      failedCount: number;
      totalEmails: number;
    }
  /** `isExample`: of a test, which sends an example of a message about new breaches instead. */
  | { type: "scan_error"; error: string; isExample?: boolean };

/** New breaches of the delivery's `scans`. */
export type Gathered = {
  type: "gathered";
  /** It tells these findings alone: the first message, while the scan still runs. */
  only?: Share;
  /** It tells all but these, which the first message of the scan has told. */
  without?: Share;
  /** It tells findings with higher ids alone: the others have become events of a webhook. */
  after?: number;
  /** It tells breaches with higher ids alone: the others have become events of a webhook. */
  afterBreach?: number;
  /** It sums up a first scan. */
  baseline?: { scannedCount: number };
  /** It tells these findings alone, of whichever scans: no rule ends them any more. */
  opened?: number[];
  /** It is one event of a webhook, and tells these breaches alone. */
  found?: Found;
};

/** `people`: how many are in these breaches. `findingIds`: at most 50 of their findings, the worst first. */
export type Found = { breachIds: number[]; people: number; findingIds: number[] };

/** Breaches of an e-mail, for its owner (alerting/owners). `byHand`: whatever channels there are. */
export type OwnerEvent = { type: "owner"; byHand?: true } & PersonEvent;

/** The type that clients and the flags of channels know an event by. */
export const typeOf = (event: AlertEvent): EventType => {
  const { type } = event;
  if (type === "scan_error" && event.isExample) return "breach";
  return type === "scan_complete" || type === "scan_error" ? type : "breach";
};

/** Breaches of an e-mail. `findingIds`: the findings, in the order of the `breachIds`. */
export type PersonEvent = { breachIds: number[]; email: { id: number; findingIds: number[] } };

/** The findings that an event names. */
export const findingIdsOf = (event: AlertEvent): number[] => {
  if (event.type === "breach") return event.email.findingIds;
  return event.type === "gathered" ? (event.found?.findingIds ?? []) : [];
};

/**
 * What a message about many people is about. `breachId`: the worst breach that it names; `isPart`: at least
 * so many people; `unwatched`: it is about so many addresses that nobody watches instead.
 */
export type Headline = {
  breachId?: number;
  more: number;
  people: number;
  isPart: boolean;
  unwatched?: number;
};

/** What a receiver answered. `body`: its first 200 printable characters. */
export type LastResponse = { status: number; durationMs: number; body: string };

/**
 * The tally of the list counts no statuses. Every attempt would then write its block's tally row, and
 * attempts of one organization would wait for each other.
 */
export type DeliveryRow = {
  event: AlertEvent;
  status: DeliveryStatus;
  /** Attempts claimed so far, including the one in progress. */
  attempts: number;
  failedAttempts: number;
  /** Attempts that delivered it before it was delivered again by hand. */
  succeededBefore?: number;
  /** ISO 8601. */
  lastAttemptAt: string | null;
  failureReason: string | null;
  /** The lease of the attempt in progress; `until` is ISO 8601. */
  lease?: { token: string; until: string };
  /** With `dueAt`: the entry in the due index. Both are absent once the delivery is delivered or given up. */
  dueShard?: string;
  /** Of a gathered event: the scans whose findings it tells. */
  scans?: Set<number>;
  /** Of a gathered event: what the last attempt told, discreet where the channel was. */
  headline?: Headline;
  /** What it waits for since it could not be attempted. `bookedFrom`: see kinds/kind.ts. */
  waits?: WaitsFor & { bookedFrom?: string };
  /** Of the last attempt, if it got an answer by HTTP. */
  lastResponse?: LastResponse;
  /** When the re-dispatch sends a message for this delivery, ISO 8601. */
  dueAt?: string;
  /** How often Slack or SES throttled an attempt. Throttled attempts are not counted. */
  throttled?: number;
  /** Fingerprints of addresses that have their copy: further attempts send to the other recipients. */
  reached?: Set<string>;
  /** From when it may wait for a day, ISO 8601: sent again by hand, or its turn. Default: `createdAt`. */
  waitsFrom?: string;
  /** After this number of attempts it is given up. Default: `maximumAttempts`; more after a retry by hand. */
  attemptLimit?: number;
};

export const deliveries = countedList<{ channelId: number }, DeliveryRow>("DELIVERY", {
  channelId: "integer",
});

export type Delivery = NonNullable<Awaited<ReturnType<typeof deliveries.get>>>;

/** What an open delivery waits for, be it another attempt. Null: it is over, or its next attempt is under way. */
export const waitsForOf = (
  { status, dueAt, lease, waits }: Pick<Delivery, "status" | "dueAt" | "lease" | "waits">,
  now: Date,
): WaitsFor | null => {
  if (dueAt === undefined) return null;
  if (waits !== undefined && waits.until > now.toISOString()) {
    const { reason, until } = waits;
    return { reason, until };
  }
  return status === "retrying" && lease === undefined ? { reason: "another attempt", until: dueAt } : null;
};

export const isOfChannel =
  (channelId: number) =>
  (group: { channelId: number }): boolean =>
    group.channelId === channelId;

/** All deliveries of a channel, newest first, block by block. Blocks without any are not read. */
export async function* ofChannel(org: number, channelId: number): AsyncGenerator<Delivery[]> {
  const isIts = isOfChannel(channelId);
  const blocks = deliveries.blocks(await deliveries.tally(org), isIts);
  for (const block of blocks.reverse()) {
    const rows = await deliveries.members(org, block);
    yield rows.filter((row) => isIts(deliveries.groupOf(row))).reverse();
  }
}

/**
 * The write that counts so many more deliveries of the channel as given up. It belongs in the transaction
 * that changes their status.
 */
export const countNotDelivered = (
  org: number,
  { id, group }: Pick<Delivery, "id" | "group">,
  by: number,
): Write[] =>
  counts.writes(org, {
    notDelivered: { channelId: deliveries.groupOf({ group }).channelId, by, deliveryId: id },
  });

/** The writes that create deliveries, and the messages to send once the transaction has succeeded. */
export type Raised = { writes: MemberWrite[]; messages: (Sending & { message: Message<"deliveries"> })[] };

/** Reserves ids for so many deliveries. */
export const reserveIds = (org: number, count: number): Promise<Reserved[]> =>
  reserve(org, "DELIVERY", count);

/** Prepares one delivery for each pair of an event and a channel that wants it. */
export const raise = (
  org: number,
  channels: readonly Channel[],
  events: readonly AlertEvent[],
): Promise<Raised> =>
  raiseFor(
    org,
    events.flatMap((event) =>
      channels.filter((channel) => wants(channel, typeOf(event))).map((channel) => ({ event, channel })),
    ),
  );

/** An event for a channel. `scans`: of a gathered one; `until`: it is not sent before, ISO 8601. */
export type Wanted = { event: AlertEvent; channel: AnyChannel; scans?: Set<number>; until?: string };

/**
 * Prepares one delivery for each given pair, whatever the channels' notification flags say. A delivery that
 * waits has no message. Takes their ids off `ids`, and reserves more if these are too few.
 */
export const raiseFor = async (
  org: number,
  wanted: readonly Wanted[],
  ids: Reserved[] = [],
): Promise<Raised> => {
  if (wanted.length === 0) return { writes: [], messages: [] };
  const taken = ids.splice(0, wanted.length);
  const reserved = [...taken, ...(await reserveIds(org, wanted.length - taken.length))];
  const pairs = wanted.map((each, index) => ({ ...each, reserved: reserved[index] as Reserved }));
  const dueAt = secondsAfter(new Date(), lostAfterSeconds);
  return {
    writes: pairs.map(({ event, channel, scans, until, reserved }) =>
      deliveries.put(
        org,
        reserved,
        { channelId: channel.id },
        {
          event,
          status: "pending",
          attempts: 0,
          failedAttempts: 0,
          lastAttemptAt: null,
          failureReason: null,
          dueShard: dueShard("DELIVERY", reserved.id),
          dueAt: until ?? dueAt,
          ...(scans !== undefined && { scans }),
          ...(until !== undefined && {
            waitsFrom: until,
            waits: { reason: "gathers what else is found", until },
          }),
        },
      ),
    ),
    messages: pairs
      .filter(({ until }) => until === undefined)
      .map(({ channel, reserved }) => ({
        message: { organizationId: org, deliveryId: reserved.id, channelId: channel.id, attempt: 1 },
        group: String(org),
      })),
  };
};
