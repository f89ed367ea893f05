import type * as z from "zod/mini";
import { type Change, type Condition, condition } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { EventType } from "../senders/envelope.ts";
import type { AlertConfig, ChannelKind, channelConfig } from "./channel-schema.ts";

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
export type Channel = Flags & {
  id: number;
  createdAt: string;
  /** ISO 8601; see slowness.ts. */
  slowUntil?: string;
  /** ISO 8601; see failing.ts. */
  failingSince?: string;
} & StoredForm;

/** Whether a channel is enabled and notified of events of this type. */
export const wants = (channel: Channel, type: EventType): boolean =>
  channel.isEnabled &&
  {
    breach: channel.notifyOnNewBreach,
    scan_complete: channel.notifyOnScanComplete,
    scan_error: channel.notifyOnScanError,
  }[type];

/** The change of a row that sets these flags, and the form if there is one. */
export const changeOf = (flags: Partial<Flags>, form: StoredForm | undefined): Change =>
  form === undefined
    ? { set: flags }
    : {
        set: { ...flags, ...form },
        ...(form.channel === "email" && { remove: ["sealed"] }),
      };

/** The condition that the form is as it was read. Each sealing gives another text. */
export const hasFormOf = (row: Channel): Condition =>
  "sealed" in row
    ? condition("#sealed = :sealed", { sealed: row.sealed })
    : condition("#channel = :channel AND #config = :config", { channel: row.channel, config: row.config });

export const get = (org: number, id: number): Promise<Channel | undefined> =>
  table.get(keys.channel(org, id));

/** All channels, newest first. */
export const list = (org: number): Promise<(Channel & Key)[]> =>
  table.query<Channel & Key>({ pk: keys.channel(org, 0).pk, descending: true });

/** A channel as the API shows it, without urls and secrets. */
export const shown = (org: number, channel: Channel): AlertConfig => {
  const { id, channel: kind, config, isEnabled } = channel;
  const { notifyOnNewBreach, notifyOnScanComplete, notifyOnScanError } = channel;
  return {
    id,
    organizationId: org,
    channel: kind,
    isEnabled,
    config,
    notifyOnNewBreach,
    notifyOnScanComplete,
    notifyOnScanError,
  };
};

/** How the activity log and alerts name a channel. */
export const describe = ({ channel, id }: Pick<Channel, "channel" | "id">): string =>
  `the ${{ email: "e-mail", slack: "Slack", webhook: "webhook" }[channel]} alert channel ${id}`;
