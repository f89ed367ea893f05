/** What people set of a channel besides where it sends to: whom it tells of what, when, and in which words. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Channel } from "./channel.ts";
import * as channels from "./channel.ts";
import type { AlertOptions, ChannelKind, Grouping } from "./channel-schema.ts";

/** Refuses `channelNotFound`. */
export const getOptions = async (org: number, id: number): Promise<AlertOptions> => {
  const channel = await channels.get(org, id);
  if (channel === undefined) throw new Refusal("channelNotFound");
  return channels.optionsOf(channel);
};

/**
 * Replaces the options of a channel. Options that change nothing succeed without an entry in the activity log. Refuses `channelNotFound`,
 * and `invalidInput` for those that the channel's kind does not have.
 */
export const setOptions = (
  org: number,
  id: number,
  options: AlertOptions,
  actor: Actor,
): Promise<AlertOptions> =>
  withOptimisticRetry(async () => {
    const channel = await channels.get(org, id);
    if (channel === undefined) throw new Refusal("channelNotFound");
    assertFit(channel.channel, options);
    const before = channels.optionsOf(channel);
    const changed = optionNames.filter((name) => options[name] !== before[name]);
    if (changed.length === 0) return options;
    const [slot, pin] = await Promise.all([activity.slot(org), pinGrouping(org, channel)]);
    await table.transact([
      {
        update: keys.channel(org, id),
        set: { ...options, ...pin.set, lastChange: slot.id },
        if: asRead({ lastChange: channel.lastChange }),
      },
      ...pin.checks,
      ...activity.writes(org, slot, {
        action: "alert_config.updated",
        summary: `Changed ${channels.describe(channel)}: ${changed.map((name) => `${words[name]} changed`).join(", ")}`,
        actor,
      }),
    ]);
    return options;
  });

const words: Record<keyof AlertOptions, string> = {
  name: "name",
  minSeverity: "least severity",
  grouping: "grouping",
  sensitive: "words for sensitive breaches",
  tellOwners: "messages to owners",
};
const optionNames = Object.keys(words) as (keyof AlertOptions)[];

const assertFit = (kind: ChannelKind, { grouping, tellOwners }: AlertOptions): void => {
  if (kind === "webhook" && grouping !== "address")
    throw new Refusal("invalidInput", { error: "grouping: must be address for a webhook" });
  if (kind !== "email" && tellOwners)
    throw new Refusal("invalidInput", { error: "tellOwners: must be false except for e-mail channels" });
};

/**
 * A scan in progress goes on with the grouping that it began with: what it has told, and what it still has to, would otherwise
 * be told twice or never. `checks` fail when a scan has begun or ended meanwhile.
 */
export const pinGrouping = async (
  org: number,
  channel: Channel,
): Promise<{ set: Pick<Channel, "pinned">; checks: Write[] }> => {
  const lock = await table.get<{ scanId: number }>(keys.scanLock(org));
  if (lock === undefined) return { set: {}, checks: [{ check: keys.scanLock(org), if: absent }] };
  const { scanId } = lock;
  const grouping: Grouping = channels.groupingIn(channel, scanId);
  return {
    set: { pinned: { scanId, grouping } },
    checks: [{ check: keys.scanLock(org), if: asRead({ scanId }) }],
  };
};
