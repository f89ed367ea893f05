import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { asRead } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { noticesOf } from "./change-notice.ts";
import * as channels from "./channel.ts";

/**
 * Removes a channel, and leaves a row that makes the sweep delete its delivery history (history.ts). Nobody
 * can read that history any more. A delivery that is created concurrently is deleted by its worker, which
 * finds no channel. Refuses `channelNotFound`.
 */
export const remove = (org: number, id: number, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const all = await channels.list(org);
    const before = all.find((channel) => channel.id === id);
    if (before === undefined) throw new Refusal("channelNotFound");
    const slot = await activity.slot(org);
    const otherChannels = all.filter((channel) => channel !== before);
    const change = { before, after: undefined, isMoved: false, quieted: [], otherChannels };
    const notices = await noticesOf(org, change, actor);
    await table.transact([
      {
        delete: keys.channel(org, id),
        if: asRead({ lastChange: before.lastChange }),
      },
      { update: keys.channelCount(org), add: { channels: -1 } },
      {
        put: {
          ...keys.channelRemoval(org, id),
          dueShard: dueShard("CHANNEL-REMOVAL", id),
          dueAt: slot.createdAt,
        },
      },
      ...activity.writes(org, slot, {
        action: "alert_config.deleted",
        summary: `Deleted ${channels.describe(before)}`,
        actor,
      }),
      ...notices.writes,
    ]);
    await notices.send();
  });
