/**
 * When findings of each breach were first and last detected, in a row for each breach of an organization.
 * Scans extend these dates before they write findings, so they cover every finding even if the scan's worker
 * dies. Removing an e-mail does not change them.
 */
import { condition } from "../aws/table/condition.ts";
import { type Key, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";

/** Milliseconds since 1970. */
export type Dates = { first: number; last: number };

type DatesRow = Key & Dates;

/** By breach id. About a read unit for 60 breaches, or for 120 where it need not be `consistent`. */
export const read = async (
  org: number,
  options: { consistent?: boolean } = {},
): Promise<Map<number, Dates>> => {
  const rows = await table.query<DatesRow>({ pk: keys.breachDates(org, 0).pk, ...options });
  return new Map(rows.map(({ sk, first, last }) => [Number(sk), { first, last }]));
};

export const get = (org: number, breachId: number): Promise<Dates | undefined> =>
  table.get<DatesRow>(keys.breachDates(org, breachId));

type Detected = { breachId: number; firstDetectedAt: string };

export const datesOf = (detected: readonly Detected[]): Map<number, Dates> => {
  const dates = new Map<number, Dates>();
  for (const { breachId, firstDetectedAt } of detected) {
    const at = Date.parse(firstDetectedAt);
    dates.set(breachId, union({ first: at, last: at }, dates.get(breachId)));
  }
  return dates;
};

export const union = (one: Dates, other: Dates | undefined): Dates =>
  other === undefined
    ? one
    : { first: Math.min(one.first, other.first), last: Math.max(one.last, other.last) };

const isWithin = (inner: Dates, outer: Dates | undefined): boolean =>
  outer !== undefined && outer.first <= inner.first && inner.last <= outer.last;

/**
 * Makes room for findings that are about to be written. `known`: what rows are known to hold, which this adds
 * to. Reads all rows: a query reads 60 for a read unit, and a chunk of a scan mostly finds many breaches.
 */
export const widen = async (
  org: number,
  detected: readonly Detected[],
  known: Map<number, Dates>,
): Promise<void> => {
  const wider = [...datesOf(detected)].filter(([breachId, dates]) => !isWithin(dates, known.get(breachId)));
  if (wider.length === 0) return;
  const rows = await read(org);
  await Promise.all(
    wider.flatMap(([breachId, dates]) => {
      const row = rows.get(breachId);
      known.set(breachId, union(dates, row));
      if (isWithin(dates, row)) return [];
      const { first, last } = dates;
      const key = keys.breachDates(org, breachId);
      const isEarlier = condition("attribute_not_exists(#first) OR #first > :first", { first });
      const isLater = condition("attribute_not_exists(#last) OR #last < :last", { last });
      // Not written: there is an earlier or a later one.
      return [
        table.attempt(table.update(key, { set: { first }, if: isEarlier })),
        table.attempt(table.update(key, { set: { last }, if: isLater })),
      ];
    }),
  );
};
