import type * as z from "zod/mini";
import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import type { Actor } from "../organizations/actor.ts";
import { retrying } from "../table/attempts.ts";
import { exists } from "../table/condition.ts";
import { dueShard, type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { urlPreview } from "./envelope.ts";
import type { AlertConfig, ChannelKind, channelConfig, EventType } from "./schema.ts";

export type Flags = {
  isEnabled: boolean;
  notifyOnNewBreach: boolean;
  notifyOnScanComplete: boolean;
  notifyOnScanError: boolean;
};

/** A kind of channel with its config, secrets included. */
export type ChannelForm = {
  [Kind in ChannelKind]: { channel: Kind; config: z.output<(typeof channelConfig)[Kind]> };
}[ChannelKind];

/** An alert channel as it is stored, secrets included: never reply or log it. */
export type Channel = Flags & {
  id: number;
  createdAt: string;
  /** See slowness.ts. */
  slowUntil?: string;
} & ChannelForm;

/** Whether a channel wants events of a type now. */
export const wants = (channel: Channel, type: EventType): boolean =>
  channel.isEnabled &&
  {
    breach: channel.notifyOnNewBreach,
    scan_complete: channel.notifyOnScanComplete,
    scan_error: channel.notifyOnScanError,
  }[type];

export const get = (org: number, id: number): Promise<Channel | undefined> =>
  table.get(keys.channel(org, id));

/** All channels, newest first, secrets included. */
export const list = (org: number): Promise<(Channel & Key)[]> =>
  table.query<Channel & Key>({ pk: keys.channel(org, 0).pk, descending: true });

/** A channel as the interface shows it: urls and secrets are write-only. */
export const shown = (org: number, channel: Channel): AlertConfig => {
  const { id, channel: kind, isEnabled } = channel;
  const { notifyOnNewBreach, notifyOnScanComplete, notifyOnScanError } = channel;
  return {
    id,
    organizationId: org,
    channel: kind,
    isEnabled,
    config: shownConfig(channel),
    notifyOnNewBreach,
    notifyOnScanComplete,
    notifyOnScanError,
  };
};

const shownConfig = (form: ChannelForm): AlertConfig["config"] => {
  switch (form.channel) {
    case "email":
      return { recipients: form.config.recipients };
    case "slack":
      return { hasWebhookUrl: form.config.webhookUrl !== "" };
    case "webhook":
      return { urlPreview: urlPreview(form.config.url), hasSecret: form.config.secret !== undefined };
  }
};

/** After this time a sweep goes on with deleting a removed channel's history. */
const removalLeaseMilliseconds = 60_000;

/**
 * Removes a channel. A row says that there is delivery history to delete until the last is gone (history.ts). A
 * delivery that is made meanwhile finds its channel gone and is deleted by its worker. Refuses `channelNotFound`.
 */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  await retrying(async () => {
    const [row, slot] = await Promise.all([get(org, id), activity.slot(org)]);
    if (row === undefined) throw new Refusal("channelNotFound");
    await table.transact([
      { delete: keys.channel(org, id), if: exists },
      { update: keys.channelCount(org), add: { channels: -1 } },
      {
        put: {
          ...keys.channelRemoval(org, id),
          dueShard: dueShard("CHANNEL-REMOVAL", id),
          dueAt: new Date(Date.now() + removalLeaseMilliseconds).toISOString(),
        },
      },
      ...activity.writes(org, slot, {
        action: "alert_config.deleted",
        summary: `Deleted ${describe(row.channel)}`,
        actor,
      }),
    ]);
  });
};

/** How the activity log names a channel. */
export const describe = (kind: ChannelKind): string =>
  ({ email: "an e-mail", slack: "a Slack", webhook: "a webhook" })[kind].concat(" alert channel");
