import type { Write } from "../../aws/table/condition.ts";
import { levelOf } from "../../monitoring/hibp/severity.ts";
import { type Channel, list, optionsOf, wants } from "../channels/channel.ts";
import { deliveries, raiseFor } from "../deliveries/delivery.ts";

/** A breach whose severity has risen, with levels before and after, and the findings that followed or were reopened. */
export type Risen = { breachId: number; from: number; level: number; people: number; reopened: number };

/**
 * The writes of the notice to Slack and e-mail channels, for the transaction that ends the change; the re-dispatch sends it within two
 * minutes. Webhooks get none: their contract has no such event.
 */
export const raiseRisen = async (org: number, risen: Risen): Promise<Write[]> => {
  const { from, level, ...event } = risen;
  const isConcerned = (channel: Channel): boolean => {
    const least = levelOf(optionsOf(channel).minSeverity);
    // A high severity concerns every channel, another one those that were not told of the breach before.
    return level >= least && (level >= levelOf("high") || from < least);
  };
  const told = (await list(org)).filter(
    (channel) => channel.channel !== "webhook" && wants(channel, "breach") && isConcerned(channel),
  );
  const { writes } = await raiseFor(
    org,
    told.map((channel) => ({ channel, event: { type: "risen", ...event } })),
  );
  return deliveries.writes(org, writes);
};
