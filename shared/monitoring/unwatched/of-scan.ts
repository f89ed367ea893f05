/**
 * What a scan found of addresses that nobody watches, in a row for each scan that found any. Only those count that
 * were not ignored. Counts of a domain are added in the transaction that keeps its answer, so that each counts once.
 */
import type { Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { levelOf } from "../../hibp/severity.ts";

/**
 * Addresses by the level of their worst new breach: `news` with one that HIBP has named since an earlier answer,
 * `first` of first answers about a domain. `byBreach`: those of `news` in each new breach, of the worst ones.
 */
export type OfScan = {
  news: Map<number, number>;
  first: Map<number, number>;
  byBreach: Map<number, number>;
};

/** An expression may have 4 KB. */
const maximumBreaches = 100;

const attributesOf = ({ news, first, byBreach }: OfScan, levelFor: (id: number) => number) => {
  const worst = [...byBreach].sort(([one], [other]) => levelFor(other) - levelFor(one));
  return Object.fromEntries([
    ...[...news].map(([level, count]) => [`news${level}`, count]),
    ...[...first].map(([level, count]) => [`first${level}`, count]),
    ...worst.slice(0, maximumBreaches).map(([id, count]) => [`breach${id}`, count]),
  ]);
};

/** The write that adds what the answer about a domain had. */
export const added = (
  org: number,
  scanId: number,
  found: OfScan,
  levelFor: (breachId: number) => number,
): Write[] => {
  const add = attributesOf(found, levelFor);
  return Object.keys(add).length === 0 ? [] : [{ update: keys.unwatchedOfScan(org, scanId), add }];
};

/** What scans found together. An address that several of them found counts for each; `scanCount` found any. */
export type Found = OfScan & { scanCount: number };

/** How many addresses there are from a level on. */
export const countFrom = (counts: ReadonlyMap<number, number>, least: number): number =>
  [...counts].reduce((sum, [level, count]) => sum + (level >= least ? count : 0), 0);

/** How many are told of from a level on, where scans found nothing else: those of high severity and above. */
export const countAlarming = ({ news }: Pick<OfScan, "news">, least: number): number =>
  countFrom(news, Math.max(least, levelOf("high")));

export const read = async (org: number, scanIds: Iterable<number>): Promise<Found> => {
  const sums: OfScan = { news: new Map(), first: new Map(), byBreach: new Map() };
  const rows = await table.getMany<Key & Record<string, number>>(
    [...scanIds].map((id) => keys.unwatchedOfScan(org, id)),
  );
  for (const row of rows) {
    for (const [name, count] of Object.entries(row ?? {})) {
      const [, kind, id] = /^(news|first|breach)(\d+)$/.exec(name) ?? [];
      if (kind === undefined) continue;
      const counts = kind === "breach" ? sums.byBreach : sums[kind as "news" | "first"];
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + Number(count));
    }
  }
  return { ...sums, scanCount: rows.filter((row) => row !== undefined).length };
};
