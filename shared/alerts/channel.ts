import type * as z from "zod/mini";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { urlPreview } from "./envelope.ts";
import type { AlertConfig, ChannelKind, channelConfig, EventType } from "./schema.ts";

export type Flags = {
  isEnabled: boolean;
  notifyOnNewBreach: boolean;
  notifyOnScanComplete: boolean;
  notifyOnScanError: boolean;
};

/** A kind of channel with the config of this kind, secrets included. */
export type ChannelForm = {
  [Kind in ChannelKind]: { channel: Kind; config: z.output<(typeof channelConfig)[Kind]> };
}[ChannelKind];

/** A stored alert channel, with its secrets: never reply with it or log it. */
export type Channel = Flags & {
  id: number;
  createdAt: string;
  /** ISO 8601; see slowness.ts. */
  slowUntil?: string;
} & ChannelForm;

/** Whether a channel is enabled and notified of events of this type. */
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

/** A channel as the API shows it, without urls and secrets. */
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

/** How the activity log and alerts name a channel. */
export const describe = ({ channel, id }: Pick<Channel, "channel" | "id">): string =>
  `the ${{ email: "e-mail", slack: "Slack", webhook: "webhook" }[channel]} alert channel ${id}`;
