import { administrator } from "../../shared/access/activity/actor.ts";
import type { Channel, Flags } from "../../shared/alerting/channels/channel.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { type AlertEvent, deliveries, raiseFor } from "../../shared/alerting/deliveries/delivery.ts";
import type { ChannelForm } from "../../shared/alerting/kinds/kind.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";

/** The options of an e-mail channel that nobody has set. */
export const defaults: AlertOptions = {
  name: null,
  minSeverity: "low",
  grouping: "scan",
  sensitive: "discreet",
  tellOwners: false,
  details: false,
};

const email: ChannelForm = { channel: "email", config: { recipients: ["team@other.example"] } };
export const webhook: ChannelForm = { channel: "webhook", config: { url: "https://192.0.32.8/" } };

const newBreachesAlone: Flags = {
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: false,
  notifyOnScanError: false,
};

/**
 * A channel with these options and the defaults of its kind. It is told of new breaches alone unless `flags`
 * say otherwise.
 */
export const createChannel = async (
  org: number,
  options: Partial<AlertOptions> = {},
  form: ChannelForm = email,
  flags: Partial<Flags> = {},
): Promise<number> => {
  const id = await configure.create(
    org,
    { ...newBreachesAlone, ...flags, ...form },
    administrator,
    async () => {},
  );
  if (Object.keys(options).length === 0) return id;
  const ofKind: Partial<AlertOptions> =
    form.channel === "webhook" ? { grouping: "address", sensitive: "named" } : {};
  await setOptions(org, id, { ...defaults, ...ofKind, ...options }, administrator);
  return id;
};

/** Writes a delivery of each event to a channel, and gives their messages. `scans`: of gathered findings. */
export const raiseTo = async (
  org: number,
  channelId: number,
  events: readonly AlertEvent[],
  scans?: Set<number>,
): Promise<Message<"deliveries">[]> => {
  const channel = (await channels.get(org, channelId)) as Channel;
  const all = events.map((event) => ({ channel, event, ...(scans && { scans }) }));
  const { writes, messages } = await raiseFor(org, all);
  for (const some of chunk(writes, 50)) await table.transact(deliveries.writes(org, some));
  return messages.map(({ message }) => message);
};
