/**
 * When findings of each breach were first and last detected, in a row for each breach of an organization.
 * Scans extend these dates before they write findings, so they cover every finding even if the scan's worker
 * dies. Removing an e-mail does not change them. The row also says who has the breach in hand
 * (breach-triage.ts). So a list of breaches reads no other rows for that.
 */
import { condition } from "../aws/table/condition.ts";
import { type Key, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";

/** Milliseconds since 1970. */
export type Dates = { first: number; last: number };

/**
 * Without dates: nobody here was ever found in the breach, and yet it has an assignee or comments. `assignee`: the
 * id of a user, who may be removed meanwhile.
 */
export type BreachRow = Partial<Dates> & { assignee?: number; comments?: number };

type ReadOptions = { consistent?: boolean };

/** By breach id. About a read unit for 60 breaches, or for 120 where it need not be `consistent`. */
export const readRows = async (org: number, options: ReadOptions = {}): Promise<Map<number, BreachRow>> => {
  const rows = await table.query<Key & BreachRow>({ pk: keys.breachDates(org, 0).pk, ...options });
  return new Map(rows.map(({ pk: _, sk, ...row }) => [Number(sk), row]));
};

/** The rows of these breaches, an empty one where there is none. */
export const rowsOf = async (
  org: number,
  breachIds: readonly number[],
  options: ReadOptions = {},
): Promise<Map<number, BreachRow>> => {
  const rows = await table.getMany<BreachRow>(
    breachIds.map((id) => keys.breachDates(org, id)),
    options,
  );
  return new Map(breachIds.map((id, index) => [id, rows[index] ?? {}]));
};

export const getRow = async (org: number, breachId: number): Promise<BreachRow> =>
  (await table.get<BreachRow>(keys.breachDates(org, breachId))) ?? {};

export const datesIn = ({ first, last }: BreachRow = {}): Dates | undefined =>
  first === undefined || last === undefined ? undefined : { first, last };

/** The dates by breach id. */
export const read = async (org: number, options: ReadOptions = {}): Promise<Map<number, Dates>> =>
  new Map(
    [...(await readRows(org, options))].flatMap(([id, row]): [number, Dates][] => {
      const dates = datesIn(row);
      return dates === undefined ? [] : [[id, dates]];
    }),
  );

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
