/**
 * Which findings a delivery tells, where several deliveries share those of a scan. Ids of findings make few ranges,
 * because each worker of a scan reserves many at once.
 */

type Range = readonly [first: number, last: number];

/** Findings with ids in `ranges`, without those of the breaches in `apart`. */
export type Share = { ranges: Range[]; apart: number[] };

const isIn = ({ ranges, apart }: Share, { id, breachId }: { id: number; breachId: number }): boolean =>
  !apart.includes(breachId) && ranges.some(([first, last]) => first <= id && id <= last);

/** The fields of a gathered event (delivery.ts) that say which findings it tells. */
type Which = {
  only?: Share;
  without?: Share;
  after?: number;
  afterBreach?: number;
  baseline?: object;
  found?: { breachIds: number[] };
};

/** Whether a delivery with such an event tells this finding of its scans. */
export const isOfDelivery = (
  { only, without, after = 0, afterBreach = 0, baseline, found }: Which,
  finding: { id: number; breachId: number },
): boolean =>
  finding.id > after &&
  finding.breachId > afterBreach &&
  // An event of a first scan is about all breaches, and lists the worst.
  (found === undefined || baseline !== undefined || found.breachIds.includes(finding.breachId)) &&
  (only === undefined || isIn(only, finding)) &&
  (without === undefined || !isIn(without, finding));

/** The ranges with these ids added. */
export const widened = (ranges: readonly Range[], ids: Iterable<number>): Range[] => {
  const sorted = [...ranges, ...[...ids].map((id): Range => [id, id])].sort(([one], [other]) => one - other);
  const joined: Range[] = [];
  for (const [first, last] of sorted) {
    const before = joined.at(-1);
    if (before !== undefined && first <= before[1] + 1)
      joined[joined.length - 1] = [before[0], Math.max(before[1], last)];
    else joined.push([first, last]);
  }
  return joined;
};
