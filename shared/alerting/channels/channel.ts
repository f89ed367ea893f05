import type * as z from "zod/mini";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { EventType } from "../kinds/envelope.ts";
import type { AlertConfig, AlertOptions, ChannelKind, channelConfig } from "./channel-schema.ts";

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

/** A form as the table holds it: what may be shown, and the rest sealed (seal.ts). */
export type StoredForm =
  | { channel: "webhook"; config: { urlPreview: string; hasSecret: boolean }; sealed: string }
  | { channel: "slack"; config: { hasWebhookUrl: boolean }; sealed: string }
  | Extract<ChannelForm, { channel: "email" }>;

/** A stored alert channel. */
export type Channel = Flags &
  Partial<AlertOptions> & {
    id: number;
    createdAt: string;
    /** The log entry of the latest change of its settings. Whoever changes them requires that it is as read. */
    lastChange: number;
    /** ISO 8601; see failing.ts. */
    failingSince?: string;
    /** ISO 8601, exact to the minute; absent before the first delivery. */
    lastDeliveredAt?: string;
    /** When the other channels were last told that it fails, ISO 8601. */
    failureReportedAt?: string;
  } & StoredForm;

/** Whether a channel is enabled and notified of events of this type. */
export const wants = (channel: Channel, type: EventType): boolean =>
  channel.isEnabled &&
  {
    breach: channel.notifyOnNewBreach,
    scan_complete: channel.notifyOnScanComplete,
    scan_error: channel.notifyOnScanError,
  }[type];

/** The options of a channel; what was not set is the default of its kind. */
export const optionsOf = (channel: Channel): AlertOptions => {
  const isWebhook = channel.channel === "webhook";
  const {
    name = null,
    minSeverity = "low",
    grouping = isWebhook ? "address" : "scan",
    sensitive = isWebhook ? "named" : "discreet",
    tellOwners = false,
  } = channel;
  return { name, minSeverity, grouping, sensitive, tellOwners };
};

export const get = (org: number, id: number): Promise<Channel | undefined> =>
  table.get(keys.channel(org, id));

/** All channels, newest first. */
export const list = (org: number): Promise<(Channel & Key)[]> =>
  table.query<Channel & Key>({ pk: keys.channel(org, 0).pk, descending: true });

/** A channel as the API shows it, without urls and secrets. */
export const shown = (org: number, row: Channel): AlertConfig => {
  const { id, channel, config, isEnabled, notifyOnNewBreach, notifyOnScanComplete, notifyOnScanError } = row;
  const flags = { notifyOnNewBreach, notifyOnScanComplete, notifyOnScanError };
  return { id, organizationId: org, channel, isEnabled, config, ...flags };
};

/** How the activity log and alerts name a channel. */
export const describe = ({ channel, id, name }: Pick<Channel, "channel" | "id" | "name">): string =>
  `the ${{ email: "e-mail", slack: "Slack", webhook: "webhook" }[channel]} alert channel ` +
  `${id}${name ? ` "${name}"` : ""}`;
