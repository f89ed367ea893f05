/**
 * The tally of a counted list: a row for each block that counts its members by group key. All rows are in one
 * partition, and one query reads them.
 */
import { keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { isReserved } from "./group-key.ts";

/** Number of members by group key. May be 0. */
export type Counts = ReadonlyMap<string, number>;

/** What the tally says of a block. */
export type Block = {
  block: number;
  /** Milliseconds since 1970: no member of this block is older, and no member of an earlier block is younger. */
  from: number;
  /** How often members of the block have been written. */
  writes: number;
  counts: Counts;
};

/** Newest block first. */
export type Tally = readonly Block[];

export const read = async (org: number, kind: ListKind): Promise<Tally> => {
  const { pk } = keys.tally(org, kind, 0);
  return (await table.queryWire({ pk, descending: true })).map(blockIn);
};

/** The counts of all blocks together. */
export const sums = (tally: Tally): Counts => {
  const all = new Map<string, number>();
  for (const { counts } of tally)
    for (const [groupKey, count] of counts) all.set(groupKey, (all.get(groupKey) ?? 0) + count);
  return all;
};

/** The first of the rows from `block` on, ascending. */
export const readFrom = async (
  org: number,
  kind: ListKind,
  block: number,
  limit: number,
): Promise<Block[]> => {
  const { pk, sk } = keys.tally(org, kind, block);
  return (await table.queryWire({ pk, from: sk, limit })).map(blockIn);
};

/** A row of the tally. Without its `from` the block could have begun at any time. */
const blockIn = (row: table.WireRow): Block => {
  const counts = new Map<string, number>();
  for (const name in row) if (!isReserved(name)) counts.set(name, Number(row[name]?.N));
  return {
    block: Number(row.sk?.S),
    from: Number(row.from?.N ?? 0),
    writes: Number(row.writes?.N ?? 0),
    counts,
  };
};
