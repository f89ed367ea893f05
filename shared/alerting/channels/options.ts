/** What people set of a channel besides where it sends to: whom it tells of what, when, and in which words. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { kindOf } from "../kinds/kinds.ts";
import * as channels from "./channel.ts";
import type { AlertOptions } from "./channel-schema.ts";

/** Refuses `channelNotFound`. */
export const getOptions = async (org: number, id: number): Promise<AlertOptions> => {
  const channel = await channels.get(org, id);
  if (channel === undefined) throw new Refusal("channelNotFound");
  return channels.optionsOf(channel);
};

/**
 * Replaces the options of a channel. Options that change nothing succeed without an entry in the activity
 * log. Refuses `channelNotFound`, and `invalidInput` for those that the channel's kind does not have.
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
    assertFit(channel, options);
    const before = channels.optionsOf(channel);
    const changed = optionNames.filter((name) => options[name] !== before[name]);
    if (changed.length === 0) return options;
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.channel(org, id),
        set: { ...options, lastChange: slot.id },
        if: asRead({ lastChange: channel.lastChange }),
      },
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

const assertFit = (channel: channels.Channel, { grouping, tellOwners }: AlertOptions): void => {
  const { label, isForPeople, mayTellOwners } = kindOf(channel);
  if (!isForPeople && grouping !== "address")
    throw new Refusal("invalidInput", { error: `grouping: must be address for a ${label}` });
  if (!mayTellOwners && tellOwners)
    throw new Refusal("invalidInput", { error: "tellOwners: must be false except for e-mail channels" });
};
