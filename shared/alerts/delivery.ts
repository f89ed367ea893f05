/**
 * Deliveries: one row per event and channel, written in the transaction that makes the event, so that what is recorded
 * is delivered or visibly given up. An attempt is claimed and counted before it is sent and finished after; the claim
 * has a lease and a token. A message only says "attempt n of this delivery is due": lost ones are sent again by the
 * re-dispatch (`dueAt`), repeated and late ones find another count and are dropped.
 */
import { randomUUID } from "node:crypto";
import type { Message } from "../queue/messages.ts";
import type { Sending } from "../queue/queue.ts";
import { type Reserved, reserve } from "../table/blocks.ts";
import { allOf, condition } from "../table/condition.ts";
import { countedList, type MemberWrite } from "../table/counted-list.ts";
import { dueShard } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Channel, wants } from "./channel.ts";
import type { EventType } from "./schema.ts";

/** What happened; a breach names its breaches by id, their details are the catalog's when it is sent. */
export type AlertEvent =
  | { type: "breach"; breachIds: number[] }
  | {
      type: "scan_complete";
      scannedCount: number;
      newBreachCount: number;
      failedCount: number;
      totalEmails: number;
    }
  | { type: "scan_error"; error: string };

export const deliveryStatuses = ["pending", "retrying", "delivered", "not_delivered"] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** Its status is not counted: everything that is sent at once would wait for one row of counters. */
export type DeliveryRow = {
  event: AlertEvent;
  status: DeliveryStatus;
  /** Attempts that were claimed, the one in hand included. */
  attempts: number;
  failedAttempts: number;
  lastAttemptAt: string | null;
  failureReason: string | null;
  /** Of the attempt in hand. */
  lease?: { token: string; until: string };
  /** While there is something left to do. */
  dueShard?: string;
  dueAt?: string;
  /** How often it was too much at once for Slack or SES, which is no attempt. */
  throttled?: number;
  /** Attempts after which it is given up, if not `maximumAttempts`: a person had it sent again after it was given up. */
  attemptLimit?: number;
};

export const deliveries = countedList<{ channelId: number }, DeliveryRow>("DELIVERY", {
  channelId: "integer",
});

export type Delivery = NonNullable<Awaited<ReturnType<typeof deliveries.get>>>;

/** All deliveries of a channel, newest first, a block at a time. Only blocks that hold some are read. */
export async function* ofChannel(org: number, channelId: number): AsyncGenerator<Delivery[]> {
  const isOfChannel = (facet: { channelId: number }) => facet.channelId === channelId;
  const blocks = deliveries.blocks(await deliveries.directory(org), isOfChannel);
  for (const block of blocks.reverse()) {
    const rows = await deliveries.members(org, block);
    yield rows.filter((row) => isOfChannel(deliveries.facetOf(row))).reverse();
  }
}

const attemptsPerDispatch = 3;
export const maximumAttempts = 30;

/** Attempts that a delivery may still have after `attempt`. */
export const attemptsLeft = ({ attemptLimit = maximumAttempts }: DeliveryRow, attempt: number): number =>
  attemptLimit - attempt;

/** Longer than a function that makes an attempt can run. */
const leaseMilliseconds = 45_000;

/** A message that is this much late counts as lost. */
const lostAfterMilliseconds = 60_000;

/** No worker has an attempt in hand. */
const notInHand = (now: Date) =>
  condition("attribute_not_exists(#lease) OR #lease.#until < :now", { now: now.toISOString() });

const attemptsAsRead = ({ attempts }: Delivery) => condition("#attempts = :attempts", { attempts });

const inMilliseconds = (from: Date, milliseconds: number): string =>
  new Date(from.getTime() + milliseconds).toISOString();

/** The deliveries of events that happen together: their rows, and the messages to send once those are written. */
export type Raised = { writes: MemberWrite[]; messages: (Sending & { message: Message<"deliveries"> })[] };

/** Makes a delivery of each event for each channel that wants it. */
export const raise = async (
  org: number,
  channels: readonly Channel[],
  events: readonly AlertEvent[],
): Promise<Raised> =>
  raiseFor(
    org,
    events.flatMap((event) =>
      channels.filter((channel) => wants(channel, event.type)).map((channel) => ({ event, channel })),
    ),
  );

/** Makes these deliveries, whether the channels want them or not. */
export const raiseFor = async (
  org: number,
  wanted: readonly { event: AlertEvent; channel: Channel }[],
): Promise<Raised> => {
  if (wanted.length === 0) return { writes: [], messages: [] };
  const reserved = await reserve(org, "DELIVERY", wanted.length);
  const pairs = wanted.map((each, index) => ({ ...each, reserved: reserved[index] as Reserved }));
  const dueAt = inMilliseconds(new Date(), lostAfterMilliseconds);
  return {
    writes: pairs.map(({ event, channel, reserved }) =>
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
          dueAt,
        },
      ),
    ),
    messages: pairs.map(({ channel, reserved }) => ({
      message: { organizationId: org, deliveryId: reserved.id, channelId: channel.id, attempt: 1 },
      group: String(channel.id),
    })),
  };
};

/** Deliveries that one event can make: what a transaction must leave room for. */
export const countWanting = (channels: readonly Channel[], type: EventType): number =>
  channels.filter((channel) => wants(channel, type)).length;

/**
 * Claims attempt `attempt` and counts it. Undefined when there is nothing to do: the message is repeated or late, another
 * worker has the attempt in hand, or the delivery is over or gone.
 */
export const claim = async (
  org: number,
  id: number,
  attempt: number,
  now: Date,
): Promise<{ delivery: Delivery; token: string } | undefined> => {
  const token = randomUUID();
  try {
    const delivery = await table.update<Delivery>(deliveries.key(org, id), {
      set: {
        attempts: attempt,
        failedAttempts: attempt - 1,
        lastAttemptAt: now.toISOString(),
        lease: { token, until: inMilliseconds(now, leaseMilliseconds) },
        dueAt: inMilliseconds(now, leaseMilliseconds),
      },
      if: allOf(
        condition("#attempts = :before AND attribute_exists(#dueAt)", { before: attempt - 1 }),
        notInHand(now),
      ),
    });
    return { delivery, token };
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
    const row = error.item as Delivery | undefined;
    // The reply to this very claim got lost, and the client tried again.
    return row?.lease?.token === token ? { delivery: row, token } : undefined;
  }
};

/** What becomes of a delivery after an attempt. `retryAfterSeconds`: the next is a message with that delay. */
export type Next =
  | { status: "delivered" }
  | { status: "not_delivered" }
  | { status: "retrying"; retryAfterSeconds: number }
  | { status: "retrying"; redispatchAfterSeconds: number };

/**
 * Attempts come in dispatches of three, 1 s and 2 s apart; the dispatches about an hour; with no attempts left it is given
 * up.
 */
export const afterFailure = (left: number, redispatchSeconds: number): Next => {
  if (left <= 0) return { status: "not_delivered" };
  // The last dispatch ends with the last attempt, so dispatches are counted from there.
  const leftOfDispatch = left % attemptsPerDispatch;
  if (leftOfDispatch > 0) {
    return { status: "retrying", retryAfterSeconds: attemptsPerDispatch - leftOfDispatch };
  }
  // Some jitter, so that what failed together does not come back together.
  return { status: "retrying", redispatchAfterSeconds: redispatchSeconds * (1 + Math.random() * 0.05) };
};

/** Records the outcome of a claimed attempt; without effect when its lease was lost to another. */
export const finish = async (
  org: number,
  claimed: { delivery: Delivery; token: string },
  next: Next,
  failureReason: string | null,
): Promise<"finished" | "lost"> => {
  const { delivery, token } = claimed;
  const over = next.status !== "retrying";
  const dueAt =
    "retryAfterSeconds" in next
      ? inMilliseconds(new Date(), next.retryAfterSeconds * 1000 + lostAfterMilliseconds)
      : "redispatchAfterSeconds" in next
        ? inMilliseconds(new Date(), next.redispatchAfterSeconds * 1000)
        : undefined;
  try {
    await table.update(deliveries.key(org, delivery.id), {
      set: {
        status: next.status,
        failedAttempts: delivery.attempts - (next.status === "delivered" ? 1 : 0),
        failureReason: failureReason ?? delivery.failureReason,
        ...(dueAt !== undefined && { dueAt }),
      },
      remove: over ? ["lease", "dueShard", "dueAt"] : ["lease"],
      if: condition("#lease.#token = :token", { token }),
    });
    return "finished";
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
    const row = error.item as Delivery | undefined;
    // The reply to this very write got lost, and the client tried again.
    const isWritten = row?.attempts === delivery.attempts && row.lease === undefined;
    return isWritten ? "finished" : "lost";
  }
};

/** The longest that a throttled delivery is put off, in seconds. */
const longestSpreadSeconds = 7_200;

/**
 * Takes a claimed attempt back: it was too much at once for Slack or SES. A first scan can make thousands of alerts for one
 * channel that takes one a second, so each comes back at a random time within a spread that doubles every time. It is retrying
 * then, so that an operator can have it sent before.
 */
export const takeBack = async (
  org: number,
  { delivery, token }: { delivery: Delivery; token: string },
  { failure, comeBackSeconds }: { failure: string; comeBackSeconds: number },
): Promise<void> => {
  const { attempts, failedAttempts, throttled = 0 } = delivery;
  const spreadSeconds = Math.min(longestSpreadSeconds, 60 * 2 ** throttled);
  const seconds = comeBackSeconds + Math.random() * spreadSeconds;
  try {
    await table.update(deliveries.key(org, delivery.id), {
      set: {
        status: "retrying",
        attempts: attempts - 1,
        failedAttempts: Math.min(failedAttempts, attempts - 1),
        failureReason: failure,
        throttled: throttled + 1,
        dueAt: inMilliseconds(new Date(), seconds * 1000),
      },
      remove: ["lease"],
      if: condition("#lease.#token = :token", { token }),
    });
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};

/** Gives up or deletes a delivery that has no attempt in hand; without effect when it changed since it was read. */
export const end = async (
  org: number,
  delivery: Delivery,
  how: { delete: true } | { failureReason: string },
): Promise<void> => {
  const asRead = allOf(attemptsAsRead(delivery), notInHand(new Date()));
  try {
    if ("delete" in how) {
      const facet = deliveries.facetOf(delivery);
      await table.transact(deliveries.writes(org, [deliveries.delete(org, delivery.id, facet, asRead)]));
    } else {
      await table.update(deliveries.key(org, delivery.id), {
        set: { status: "not_delivered", failureReason: how.failureReason },
        remove: ["lease", "dueShard", "dueAt"],
        if: asRead,
      });
    }
  } catch (error) {
    if (!(error instanceof table.TransactionRefused || error instanceof table.ConditionFailed)) throw error;
  }
};

/** Puts off a delivery that cannot be attempted now. */
export const putOff = async (org: number, delivery: Delivery, until: Date): Promise<void> => {
  try {
    await table.update(deliveries.key(org, delivery.id), {
      set: { dueAt: until.toISOString() },
      if: allOf(condition("attribute_exists(#dueAt)"), attemptsAsRead(delivery), notInHand(new Date())),
    });
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};

/**
 * Makes a delivery that is retrying or given up due: after the time by which the message counts as lost that the caller sends
 * at once, or with `now` for the re-dispatch. One that was given up gets a last dispatch of three attempts. False when an
 * attempt is in hand, or it changed since it was read.
 */
export const takeAtOnce = async (
  org: number,
  delivery: Delivery,
  due: "now" | "when lost" = "when lost",
): Promise<boolean> => {
  const { status } = delivery;
  const now = new Date();
  try {
    await table.update(deliveries.key(org, delivery.id), {
      set: {
        status: "retrying",
        dueShard: dueShard("DELIVERY", delivery.id),
        dueAt: inMilliseconds(now, due === "now" ? 0 : lostAfterMilliseconds),
        ...(status === "not_delivered" && { attemptLimit: delivery.attempts + attemptsPerDispatch }),
      },
      if: allOf(condition("#status = :status", { status }), attemptsAsRead(delivery), notInHand(now)),
    });
    return true;
  } catch (error) {
    if (error instanceof table.ConditionFailed) return false;
    throw error;
  }
};

/**
 * Takes a due delivery for re-dispatch: from now on it is due again only when its message is lost. Undefined when
 * somebody else took it or it is over.
 */
export const takeDue = async (
  key: Parameters<typeof table.update>[0],
  dueAt: string,
): Promise<Delivery | undefined> => {
  try {
    return await table.update<Delivery>(key, {
      set: { dueAt: inMilliseconds(new Date(), lostAfterMilliseconds) },
      if: condition("#dueAt = :dueAt", { dueAt }),
    });
  } catch (error) {
    if (error instanceof table.ConditionFailed) return undefined;
    throw error;
  }
};
