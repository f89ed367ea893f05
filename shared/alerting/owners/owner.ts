/**
 * Messages to the owners of breached addresses. Each is a delivery like all others, of a channel without a
 * row. So no channel of the organization fails with the mailbox of an owner. A finding names the delivery
 * that tells its owner (`ownerDelivery`), written in the same transaction.
 */
import { levelOf } from "../../hibp/severity.ts";
import * as channels from "../channels/channel.ts";
import type { OwnerEvent } from "../deliveries/delivery.ts";

/** The channel of all messages to owners. */
export const ownersChannel: channels.AnyChannel = {
  id: 0,
  createdAt: "",
  lastChange: 0,
  channel: "owner",
  config: {},
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: false,
  notifyOnScanError: false,
};

/** The id that API and command line call `owners`, and others as they are. */
export const channelIdOf = (sender: "owners" | number): number =>
  sender === "owners" ? ownersChannel.id : sender;

/** A channel by its id, the one of messages to owners included. */
export const channelOf = async (org: number, id: number): Promise<channels.AnyChannel | undefined> =>
  id === ownersChannel.id ? ownersChannel : channels.get(org, id);

/** The severity, as a level, from which one of the channels has owners told. Undefined: none has. */
export const leastForOwners = (all: readonly channels.Channel[]): number | undefined => {
  const levels = all
    .filter((channel) => channels.wants(channel, "breach") && channels.optionsOf(channel).tellOwners)
    .map((channel) => levelOf(channels.optionsOf(channel).minSeverity));
  return levels.length === 0 ? undefined : Math.min(...levels);
};

/** A message about an e-mail's findings, worst first. */
export const eventFor = (
  emailId: number,
  breaches: readonly { breachId: number; findingId: number; level: number }[],
): OwnerEvent => {
  const worstFirst = breaches.toSorted((one, other) => other.level - one.level);
  return {
    type: "owner",
    breachIds: worstFirst.map(({ breachId }) => breachId),
    email: { id: emailId, findingIds: worstFirst.map(({ findingId }) => findingId) },
  };
};
