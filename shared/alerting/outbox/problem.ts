/** What happens outside of scans: problems, and breaches that are worse than was known. */
import { exists } from "../../aws/table/condition.ts";
import type { Key } from "../../aws/table/keys.ts";
import { levelOf } from "../../hibp/severity.ts";
import type { Problem, Risen } from "../../outbox/outbox.ts";
import { type Channel, list, optionsOf, wants } from "../channels/channel.ts";
import { type AlertEvent, raiseFor } from "../deliveries/delivery.ts";
import { kindOf } from "../kinds/kinds.ts";
import { settle } from "./settle.ts";

/** False: another worker has told it. */
export const reportProblem = (org: number, row: Problem & Key): Promise<boolean> => {
  const { error, scanId, to } = row;
  const isReceiver = (channel: Channel): boolean =>
    to === undefined ? wants(channel, "scan_error") : to.includes(channel.id);
  const event = { type: "scan_error" as const, ...(scanId !== undefined && { scanId }), error };
  return reportTo(org, row, event, isReceiver);
};

/** Webhooks are not told: their contract has no such event. False: another worker has told it. */
export const reportRise = (org: number, row: Risen & Key): Promise<boolean> => {
  const { breachId, from, level, people, reopened } = row;
  const isConcerned = (channel: Channel): boolean => {
    const least = levelOf(optionsOf(channel).minSeverity);
    // A high severity concerns every channel, another one those that were not told of the breach before.
    return level >= least && (level >= levelOf("high") || from < least);
  };
  return reportTo(
    org,
    row,
    { type: "risen", breachId, people, reopened },
    (channel) => kindOf(channel).isForPeople && wants(channel, "breach") && isConcerned(channel),
  );
};

const reportTo = async (
  org: number,
  { pk, sk }: Key,
  event: AlertEvent,
  isReceiver: (channel: Channel) => boolean,
): Promise<boolean> => {
  const receivers = (await list(org)).filter(isReceiver);
  const raised = await raiseFor(
    org,
    receivers.map((channel) => ({ channel, event })),
  );
  return settle(org, [{ delete: { pk, sk }, if: exists }], raised);
};
