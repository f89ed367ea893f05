/**
 * A channel whose receiver answers slowly is noted as slow until `slowUntil`. Its first attempts then go
 * through the queue of retries, so that they do not hold up other channels. The note is written when it
 * changes, and about every five minutes while the channel stays slow.
 */
import { condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Channel } from "./channel.ts";

const slowFromMilliseconds = 3_000;

/** A note that is not renewed ends after this time. */
const keptMilliseconds = 10 * 60_000;

export const isSlow = ({ slowUntil }: Channel): boolean =>
  slowUntil !== undefined && slowUntil > new Date().toISOString();

/** Notes how long an attempt took. `channel` is the channel as it was read before the attempt. */
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
  // A failed condition means that another attempt has written the note, or that the channel was removed.
  await table.attempt(table.update(keys.channel(org, id), how));
};
