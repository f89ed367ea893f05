/** What people set of a channel besides where it sends to: whom it tells of what, when, and in which words. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { levelOf } from "../../hibp/severity.ts";
import { kindOf } from "../kinds/kinds.ts";
import { noticesOfOptions, quietCounter } from "./change-notice.ts";
import * as channels from "./channel.ts";
import type { AlertOptions, Grouping } from "./channel-schema.ts";

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
): Promise<AlertOptions> => {
  const isFew = quietCounter(org);
  return withOptimisticRetry(async () => {
    const all = await channels.list(org);
    const channel = all.find((each) => each.id === id);
    if (channel === undefined) throw new Refusal("channelNotFound");
    assertFit(channel, options);
    const before = channels.optionsOf(channel);
    const changed = optionNames.filter((name) => options[name] !== before[name]);
    if (changed.length === 0) return options;
    const quieted = changed.filter((name) => isQuieted[name](before, options, channel));
    const otherChannels = all.filter((each) => each !== channel);
    const [slot, notices] = await Promise.all([
      activity.slot(org),
      noticesOfOptions(org, channel, quieted.map(changeOf), otherChannels, actor, isFew),
    ]);
    await table.transact([
      {
        update: keys.channel(org, id),
        set: { ...options, lastChange: slot.id },
        if: asRead({ lastChange: channel.lastChange }),
      },
      ...activity.writes(org, slot, {
        action: "alert_config.updated",
        summary: `Changed ${channels.describe(channel)}: ${changed.map(changeOf).join(", ")}`,
        actor,
      }),
      ...notices.writes,
    ]);
    await notices.send();
    return options;
  });
};

const words: Record<keyof AlertOptions, string> = {
  name: "name",
  minSeverity: "least severity",
  grouping: "grouping",
  sensitive: "words for sensitive breaches",
  tellOwners: "messages to owners",
  details: "details of events",
};
const optionNames = Object.keys(words) as (keyof AlertOptions)[];
const changeOf = (name: keyof AlertOptions): string => `${words[name]} changed`;

/** Whether a changed option makes the channel tell less than before, or later. */
const isQuieted: Record<
  keyof AlertOptions,
  (before: AlertOptions, after: AlertOptions, channel: channels.Channel) => boolean
> = {
  name: () => false,
  minSeverity: (before, after) => levelOf(after.minSeverity) > levelOf(before.minSeverity),
  grouping: (before, after) => delayOf[after.grouping] > delayOf[before.grouping],
  // People are still told, in discreet words. A receiver gets nothing.
  sensitive: (_, after, channel) => after.sensitive === "discreet" && !kindOf(channel).isForPeople,
  tellOwners: (_, after) => !after.tellOwners,
  details: (_, after) => !after.details,
};

/** In days. */
const delayOf: Record<Grouping, number> = { address: 0, scan: 0, day: 1, week: 7 };

const assertFit = (channel: channels.Channel, { grouping, tellOwners, details }: AlertOptions): void => {
  const { label, isForPeople, mayTellOwners } = kindOf(channel);
  if (!isForPeople && grouping !== "address" && !(details && grouping === "scan"))
    throw new Refusal("invalidInput", {
      error: `grouping: must be address for a ${label}, or scan with details`,
    });
  if (isForPeople && details)
    throw new Refusal("invalidInput", { error: "details: must be false except for webhooks" });
  if (!mayTellOwners && tellOwners)
    throw new Refusal("invalidInput", { error: "tellOwners: must be false except for e-mail channels" });
};
