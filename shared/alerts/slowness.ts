/**
 * Channels whose receivers take long to answer are marked, and their first attempts go by way of the retries' lane. The mark
 * is written when it changes, and about every five minutes while a channel stays slow.
 */
import { condition } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Channel } from "./channel.ts";

const slowFromMilliseconds = 3_000;

/** A mark that nothing renews ends after this. */
const keptMilliseconds = 10 * 60_000;

export const isSlow = ({ slowUntil }: Channel): boolean =>
  slowUntil !== undefined && slowUntil > new Date().toISOString();

/** Notes how long an attempt of a channel took, as it was read before. */
export const note = async (
  org: number,
  channel: Channel,
  { milliseconds, isDelivered }: { milliseconds: number; isDelivered: boolean },
): Promise<void> => {
  const now = Date.now();
  if (milliseconds >= slowFromMilliseconds) {
    const soon = new Date(now + keptMilliseconds / 2).toISOString();
    if (channel.slowUntil !== undefined && channel.slowUntil > soon) return;
    await change(org, channel, {
      set: { slowUntil: new Date(now + keptMilliseconds).toISOString() },
      // Of many attempts that end together, the first writes. A channel that is gone stays gone.
      if: condition("attribute_exists(#id) AND (attribute_not_exists(#slowUntil) OR #slowUntil < :soon)", {
        soon,
      }),
    });
  } else if (channel.slowUntil !== undefined && isDelivered) {
    await change(org, channel, { remove: ["slowUntil"], if: condition("attribute_exists(#slowUntil)") });
  }
};

const change = async (
  org: number,
  { id }: Channel,
  how: Parameters<typeof table.update>[1],
): Promise<void> => {
  try {
    await table.update(keys.channel(org, id), how);
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};
