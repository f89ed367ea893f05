/**
 * The directory of a counted list (counted-list.ts): how many members of each facet every block has, newest block first.
 *
 * A block has a row of counters, which every write of a member moves. A list call reads the whole directory, so where
 * blocks are many their rows are *rolled up*: one row holds the counters of 64 blocks, and a block's own row, which writers
 * make again without knowing, holds what has changed since. A block's counters are the sum of both.
 *
 * Counters move from the blocks' rows into a rollup in one transaction (roll-up.ts), which also counts up the row `~ROLLUPS`.
 * A query is no snapshot, but it goes through its rows in order: that row comes first, then the blocks, then the rollups.
 * A rollup that is later than the first row was made in between, and the directory is read again.
 */
import { setTimeout } from "node:timers/promises";
import { beside, type Key, keys, type ListKind, rollupPrefix } from "./keys.ts";
import * as table from "./table.ts";

/** Encoded facet to number of members; may be 0. */
export type Counts = ReadonlyMap<string, number>;

export type DirectoryRow = {
  block: number;
  /** No member of this block is older, none of an earlier block is younger. A rollup does not keep it. */
  from: string | undefined;
  counts: Counts;
};

/** A block, or those of a rollup: they are only looked into one by one where it matters. */
export type Section = {
  /** Of the row that it comes from. */
  key: Key;
  /** Of all its blocks together. */
  counts: Counts;
  /** Newest first. */
  rows: () => DirectoryRow[];
};

/** Newest first. */
export type Directory = Section[];

/** Attributes of a block's row that are no counters. `writes` tells whether it has changed. */
const ownAttributes = new Set(["pk", "sk", "from", "writes"]);

/** Whether an attribute of a block's row cannot be the name of a facet. */
export const isReserved = (name: string): boolean => ownAttributes.has(name);

const maximumReadings = 10;

export type BlockRow = DirectoryRow & { writes: number };

export type Rollup = {
  /** Its newest block when it was made: it stands for all blocks after the rollup before it, up to this one. */
  last: number;
  change: number;
  sums: string;
  blocks: string;
};

export type Rows = { change: number; blocks: BlockRow[]; rollups: Rollup[]; others: table.WireRow[] };

/** The directory, and the rows beside it. */
export const read = async (
  org: number,
  kind: ListKind,
): Promise<{ directory: Directory; beside: table.WireRow[] }> => {
  const { blocks, rollups, others } = await readRows(org, kind);
  return { directory: sectionsOf(org, kind, blocks, rollups), beside: others };
};

/** All blocks one by one. */
export const rowsOf = (directory: Directory): DirectoryRow[] =>
  directory.flatMap((section) => section.rows());

/** The rows as they are stored. */
export const readRows = async (org: number, kind: ListKind): Promise<Rows> => {
  const { pk, sk } = keys.rollups(org, kind);
  for (let reading = 0; reading < maximumReadings; reading++) {
    if (reading > 0) await setTimeout(reading * 10);
    const rows = await table.queryWire({ pk, descending: true });
    const read: Rows = { change: 0, blocks: [], rollups: [], others: [] };
    for (const row of rows) {
      const name = row.sk?.S ?? "";
      if (name === sk) read.change = Number(row.change?.N);
      else if (!name.startsWith(beside)) read.blocks.push(blockRow(row));
      else if (name.startsWith(rollupPrefix)) read.rollups.push(rollupOf(row));
      else read.others.push(row);
    }
    if (read.rollups.every((rollup) => rollup.change <= read.change)) return read;
  }
  throw new Error(`The directory of ${kind} kept being rolled up while it was read`);
};

const blockRow = (row: table.WireRow): BlockRow => {
  const counts = new Map<string, number>();
  for (const name in row) if (!isReserved(name)) counts.set(name, Number(row[name]?.N));
  return {
    block: Number(row.sk?.S),
    from: row.from?.S ?? "",
    writes: Number(row.writes?.N ?? 0),
    counts,
  };
};

export const rollupOf = (row: table.WireRow): Rollup => ({
  last: Number(row.sk?.S?.slice(rollupPrefix.length)),
  change: Number(row.change?.N),
  sums: row.sums?.S ?? "",
  blocks: row.blocks?.S ?? "",
});

const sectionsOf = (
  org: number,
  kind: ListKind,
  blocks: readonly BlockRow[],
  rollups: readonly Rollup[],
): Directory => {
  const { unrolled, changed } = divide(blocks, rollups);
  return [
    ...unrolled.map((row) => ({
      key: keys.directory(org, kind, row.block),
      counts: row.counts,
      rows: () => [row],
    })),
    ...rollups.map((rollup, index): Section => {
      const since = changed[index] ?? [];
      return {
        key: keys.rollup(org, kind, rollup.last),
        counts: added([countsFrom(rollup.sums), ...since.map((row) => row.counts)]),
        rows: () => merged(rollup, since),
      };
    }),
  ];
};

/** Which blocks' rows are to be added to which rollup, by its place, and which to none. */
export const divide = (
  blocks: readonly BlockRow[],
  rollups: readonly Rollup[],
): { unrolled: BlockRow[]; changed: BlockRow[][] } => {
  const changed: BlockRow[][] = rollups.map(() => []);
  const unrolled: BlockRow[] = [];
  let index = 0;
  for (const row of blocks) {
    while (index < rollups.length && row.block <= (rollups[index + 1]?.last ?? -1)) index++;
    if (row.block > (rollups[0]?.last ?? -1)) unrolled.push(row);
    else changed[index]?.push(row);
  }
  return { unrolled, changed };
};

/** The blocks of a rollup with what has changed since, newest first. */
export const merged = (rollup: Rollup, since: readonly DirectoryRow[]): DirectoryRow[] => {
  const blocks = blocksFrom(rollup.blocks);
  for (const { block, counts } of since) blocks.set(block, added([blocks.get(block) ?? new Map(), counts]));
  return [...blocks]
    .map(([block, counts]) => ({ block, from: undefined, counts }))
    .sort((one, other) => other.block - one.block);
};

/** Facet by facet. */
export const added = (all: readonly Counts[]): Counts => {
  const [first = new Map<string, number>(), ...others] = all;
  if (others.length === 0) return first;
  const sums = new Map(first);
  for (const counts of others) {
    for (const [facet, count] of counts) sums.set(facet, (sums.get(facet) ?? 0) + count);
  }
  return sums;
};

/** `12-0=112,12-1=400`: facets are of letters, digits, `_` and `-`. */
const countsFrom = (text: string): Map<string, number> => {
  const counts = new Map<string, number>();
  if (text === "") return counts;
  for (const entry of text.split(",")) {
    const end = entry.indexOf("=");
    counts.set(entry.slice(0, end), Number(entry.slice(end + 1)));
  }
  return counts;
};

/** `7:12-0=112,12-1=400;8:`, a block after the other. */
export const blocksFrom = (text: string): Map<number, Counts> => {
  const blocks = new Map<number, Counts>();
  if (text === "") return blocks;
  for (const entry of text.split(";")) {
    const end = entry.indexOf(":");
    blocks.set(Number(entry.slice(0, end)), countsFrom(entry.slice(end + 1)));
  }
  return blocks;
};
