import { findings } from "../../findings/record.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import { breachesPerEvent } from "../../outbox/outbox.ts";
import { type AnyChannel, optionsOf } from "../channels/channel.ts";
import { type Delivery, type Found, type Gathered, type Raised, raiseFor } from "../deliveries/delivery.ts";
import { isOfDelivery } from "../deliveries/share.ts";
import { maximumFindings } from "../kinds/events.ts";
import { findingsOfScans } from "../messages/scan-findings.ts";

/** Deliveries that one transaction writes, beside the gathered one. */
const deliveriesAtOnce = 80;

/**
 * The deliveries of a scan to a webhook, in place of the gathered one. Each breach has one, and a first scan has one
 * in all. `left`: what the gathered one still has to tell; undefined when that is nothing.
 */
export const eventsOfScan = async (
  org: number,
  { scans = new Set() }: Delivery,
  event: Gathered,
  channel: AnyChannel,
): Promise<{ raised: Raised; left?: Gathered }> => {
  const { breaches, last } = await readBreaches(org, scans, event, channel);
  const isOfFirstScan = event.baseline !== undefined;
  const now = isOfFirstScan ? breaches : breaches.slice(0, deliveriesAtOnce);
  const found = isOfFirstScan ? inOne(now) : now.map((each) => foundOf([each]));
  const { afterBreach: _, ...whole } = event;
  const raised = await raiseFor(
    org,
    found.map((each) => ({
      channel,
      event: { ...whole, found: each },
      scans,
    })),
  );
  if (isOfFirstScan) return { raised };
  if (now.length < breaches.length) {
    const afterBreach = now.at(-1)?.breachId ?? 0;
    return { raised, left: { ...event, afterBreach } };
  }
  // The scan has more findings than one part, and each part makes its own events.
  return { raised, ...(last !== undefined && { left: { ...whole, after: last } }) };
};

type BreachFound = { breachId: number; level: number; people: Set<number>; findingIds: number[] };

/** What the event tells this channel, by the ids of breaches. `last`: the last finding read, if more remain. */
const readBreaches = async (
  org: number,
  scans: ReadonlySet<number>,
  event: Gathered,
  channel: AnyChannel,
): Promise<{ breaches: BreachFound[]; last: number | undefined }> => {
  const { minSeverity, sensitive } = optionsOf(channel);
  const least = levelOf(minSeverity);
  const { isWhole, rows } = await findingsOfScans(org, scans, (event.after ?? 0) + 1);
  const byBreach = new Map<number, BreachFound>();
  let last: number | undefined;
  for await (const some of rows()) {
    for (const row of some) {
      const level = findings.groupOf(row).severity;
      if (level < least || !isOfDelivery(event, row)) continue;
      const { breachId } = row;
      const ofBreach = byBreach.get(breachId) ?? { breachId, level, people: new Set(), findingIds: [] };
      byBreach.set(breachId, ofBreach);
      ofBreach.people.add(row.emailId);
      if (ofBreach.findingIds.length < maximumFindings) ofBreach.findingIds.push(row.id);
    }
    last = some.at(-1)?.id ?? last;
  }
  const details = await breachDetails.details(byBreach.keys());
  const breaches = [...byBreach.values()]
    .filter(({ breachId }) => sensitive === "named" || details.get(breachId)?.isSensitive !== true)
    .sort((one, other) => one.breachId - other.breachId);
  return { breaches, last: isWhole ? undefined : last };
};

/** All breaches in one event; none if there are no breaches. */
const inOne = (breaches: readonly BreachFound[]): Found[] =>
  breaches.length === 0 ? [] : [foundOf(breaches.toSorted((one, other) => other.level - one.level))];

const foundOf = (worstFirst: readonly BreachFound[]): Found => ({
  breachIds: worstFirst.slice(0, breachesPerEvent).map(({ breachId }) => breachId),
  people: new Set(worstFirst.flatMap(({ people }) => [...people])).size,
  findingIds: worstFirst.flatMap(({ findingIds }) => findingIds).slice(0, maximumFindings),
});
