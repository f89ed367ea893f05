import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { EventType } from "../kinds/events.ts";
import type { ChannelKind, OwnersForm, StoredForm } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { AlertConfig, AlertOptions } from "./channel-schema.ts";

export type Flags = {
  isEnabled: boolean;
  notifyOnNewBreach: boolean;
  notifyOnScanComplete: boolean;
  notifyOnScanError: boolean;
};

/** What a message waits for, in a few words, and until when, ISO 8601. */
export type WaitsFor = { reason: string; until: string };

type Settings = Flags &
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
    /** What one of its messages waits for (failing.ts). */
    waits?: WaitsFor;
  };

/** A stored alert channel. */
export type Channel = Settings & StoredForm;

/** A channel that deliveries go to: a stored one, or that of messages to owners (owners/owner.ts). */
export type AnyChannel = Channel | (Settings & OwnersForm);

/** Whether people have set it up: it has a row and can fail. */
export const isSetUp = (channel: AnyChannel): channel is Channel => kindOf(channel).isSetUp;

/** Whether a channel is enabled and notified of events of this type. */
export const wants = (channel: Channel, type: EventType): boolean =>
  channel.isEnabled &&
  {
    breach: channel.notifyOnNewBreach,
    scan_complete: channel.notifyOnScanComplete,
    scan_error: channel.notifyOnScanError,
  }[type];

/** The options of a channel; what was not set is the default of its kind. */
export const optionsOf = (channel: AnyChannel): AlertOptions => {
  const { isForPeople } = kindOf(channel);
  const {
    name = null,
    minSeverity = "low",
    grouping = isForPeople ? "scan" : "address",
    sensitive = isForPeople ? "discreet" : "named",
    tellOwners = false,
    details = false,
  } = channel;
  return { name, minSeverity, grouping, sensitive, tellOwners, details };
};

/** The addresses that each get a copy; none of other kinds. */
export const recipientsOf = (channel: AnyChannel): readonly string[] =>
  kindOf(channel).recipientsOf?.(channel.config) ?? [];

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

/** What a message of the channel waits for, and until when. */
export const waitsForOf = ({ waits }: Channel, now: Date): WaitsFor | null =>
  waits !== undefined && waits.until > now.toISOString()
    ? { reason: waits.reason, until: waits.until }
    : null;

/** How the activity log and alerts name a channel. */
export const describe = ({
  id,
  name,
  ...kind
}: { channel: ChannelKind } & Pick<Channel, "id" | "name">): string =>
  `the ${kindOf(kind).label} alert channel ${id}${name ? ` "${name}"` : ""}`;
