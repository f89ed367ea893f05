/**
 * A channel fails from its first failed attempt until an attempt arrives. People also end it: they enable,
 * disable or move the channel. The organization's other channels that want scan errors are told once until
 * then, and at most once a day. They are told when a delivery is given up, or when nothing arrived in a day
 * with something due.
 */
import { allOf, asRead, exists } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { secondsAfter } from "../../contract/alert-timing.ts";
import { wake } from "../../outbox/outbox.ts";
import type { Obstacle } from "../kinds/kind.ts";
import { problemOf } from "./change-notice.ts";
import { type Channel, describe, list, type WaitsFor } from "./channel.ts";

/** If some deliveries of a channel arrive and some do not, the next report comes after this time. */
const againAfterSeconds = 24 * 3600;

/** Why alerts do not reach a channel. `isPartial`: some recipients get theirs. */
export type Failure = Obstacle & { isPartial?: boolean };

/**
 * Call it before the delivery changes: if the process dies in between, the next attempt records it.
 * `isLasting`: the other channels are told, unless they were. A recorded failure is not written again.
 */
export const recordFailure = async (
  org: number,
  channel: Channel,
  failure: Failure,
  isLasting: boolean,
): Promise<void> => {
  const { id, failingSince, failureReportedAt } = channel;
  const now = new Date();
  const at = now.toISOString();
  const isReported =
    failureReportedAt !== undefined &&
    (failureReportedAt > secondsAfter(now, -againAfterSeconds) || failureReportedAt >= (failingSince ?? at));
  const reports = isLasting && !isReported;
  if (!reports && failingSince !== undefined) return;
  const otherChannels = reports ? (await list(org)).filter((other) => other.id !== id) : [];
  const notice = problemOf(org, otherChannels, inWords(channel, failure));
  // A failed condition means that another attempt has told the other channels, or that the channel was removed.
  const { written } = await table.attempt(
    table.transact([
      {
        update: keys.channel(org, id),
        setOnce: { failingSince: at },
        ...(reports && { set: { failureReportedAt: at } }),
        if: allOf(exists, asRead({ failureReportedAt })),
      },
      ...notice,
    ]),
  );
  if (written && notice.length > 0) await wake(org);
};

/** Messages that wait for one hour go out within some minutes of each other. */
const apartMilliseconds = 10 * 60_000;

/**
 * Records that a message waits, unless the row says so already. What the row says ends by itself: then the message is
 * attempted, or waits again. So no number of waiting messages makes more writes.
 */
export const recordWait = async (org: number, { id, waits }: Channel, next: WaitsFor): Promise<void> => {
  const isSaid = waits !== undefined && waits.until > new Date().toISOString();
  if (isSaid && Date.parse(next.until) - Date.parse(waits.until) < apartMilliseconds) return;
  // A failed condition means that the channel was removed.
  await table.attempt(table.update(keys.channel(org, id), { set: { waits: next }, if: exists }));
};

const inWords = (channel: Channel, { failure, isOperators, isPartial }: Failure): string => {
  const whom = isPartial ? `all recipients of ${describe(channel)}` : describe(channel);
  const check = isPartial
    ? "The details of its last delivery say who gets none."
    : "Check its settings, then send it a test.";
  return `Alerts do not reach ${whom}: ${failure}. ${isOperators ? "Ask whoever operates this service." : check}`;
};

const minute = 60_000;

/**
 * Records that a delivery arrived, unless the channel works and its row already has one of the last minute.
 * Call it before the delivery changes too: a recorded failure that stays would keep the next one from being
 * reported.
 */
export const recordArrival = async (
  org: number,
  { id, failingSince, lastDeliveredAt = "1970-01-01" }: Channel,
): Promise<void> => {
  const now = Date.now();
  if (failingSince === undefined && now - Date.parse(lastDeliveredAt) < minute) return;
  // A failed condition means that the channel was removed.
  await table.attempt(
    table.update(keys.channel(org, id), {
      set: { lastDeliveredAt: new Date(now).toISOString() },
      remove: ["failingSince"],
      if: exists,
    }),
  );
};
