import { administrator } from "../../shared/access/activity/actor.ts";
import type { ChannelForm, Flags } from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";

/** The options of an e-mail channel that nobody has set. */
export const defaults: AlertOptions = {
  name: null,
  minSeverity: "low",
  grouping: "scan",
  sensitive: "discreet",
  tellOwners: false,
};

const email: ChannelForm = { channel: "email", config: { recipients: ["team@other.example"] } };
export const webhook: ChannelForm = { channel: "webhook", config: { url: "https://192.0.32.8/" } };

const newBreachesAlone: Flags = {
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: false,
  notifyOnScanError: false,
};

/** A channel that is told of new breaches alone unless `flags` say else, with these options and the defaults of its kind. */
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
