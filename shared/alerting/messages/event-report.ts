/** What a webhook is told of breaches, read at each attempt. */
import * as detailed from "../../findings/detailed.ts";
import type { Breach } from "../../hibp/breach.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import { type AnyChannel, optionsOf } from "../channels/channel.ts";
import type { Found } from "../deliveries/delivery.ts";
import { type EventDetails, maximumFindings } from "../kinds/events.ts";

/** `place`: the path, behind the dashboard's url, of the page that shows them. */
export type EventReport = {
  kind: "event";
  /** Worst first. */
  breaches: Breach[];
  people: number;
  place: string;
  /** With the channel's option `details` alone. */
  findings?: EventDetails["findings"];
};

/**
 * Undefined: the channel may not name any of these breaches. `emailId`: the address, of an event about one. `scanId`:
 * the scan, if one has found them all.
 */
export const readEvent = async (
  org: number,
  { breachIds, people, findingIds }: Found,
  { emailId, scanId }: { emailId?: number; scanId?: number | undefined },
  channel: AnyChannel,
): Promise<EventReport | undefined> => {
  const { sensitive, details } = optionsOf(channel);
  const [known, findings] = await Promise.all([
    breachDetails.details(breachIds),
    details ? detailed.getMany(org, findingIds.slice(0, maximumFindings)) : undefined,
  ]);
  const breaches = breachIds
    .flatMap((id) => known.get(id) ?? [])
    .filter(({ isSensitive }) => sensitive === "named" || !isSensitive)
    .sort((one, other) => levelOf(other.severity) - levelOf(one.severity));
  const [first] = breaches;
  if (first === undefined) return undefined;
  const shown = new Set(breaches.map(({ id }) => id));
  return {
    kind: "event",
    breaches,
    people,
    place: placeOf(first.id, breaches.length, { emailId, scanId }),
    ...(findings && { findings: findings.filter(({ breach }) => shown.has(breach.id)) }),
  };
};

const placeOf = (
  breachId: number,
  count: number,
  { emailId, scanId }: { emailId: number | undefined; scanId: number | undefined },
): string => {
  if (emailId !== undefined) return `/emails/${emailId}`;
  if (count === 1) return `/breaches/${breachId}`;
  return scanId === undefined ? "/findings" : `/findings?scanId=${scanId}`;
};
