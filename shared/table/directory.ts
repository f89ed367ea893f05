/**
 * The directory of a counted list (counted-list.ts): how many members of each facet every block has, newest block first.
 *
 * A block has a row of counters, which every write of a member moves. A list call reads the whole directory, so where
 * blocks are many their rows are *rolled up*: one row holds the counters of 64 blocks, and a block's own row, which writers
 * make again without knowing, holds what has changed since. A block's counters are the sum of both.
 *
 * `rollUp` moves counters from the blocks' rows into a rollup in one transaction, which also counts up the row `~ROLLUPS`.
 * A query is no snapshot, but it goes through its rows in order: that row comes first, then the blocks, then the rollups.
 * A rollup that is later than the first row was made in between, and the directory is read again.
 */
import { setTimeout } from "node:timers/promises";
import { absent, condition, type Item, type Write } from "./condition.ts";
import { beside, type Key, keys, type ListKind, rollupPrefix } from "./keys.ts";
import { parts } from "./parts.ts";
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

export const blocksPerRollup = 64;

/** Of the text of a rollup: a row takes 400 KB, and every change of it is paid by its size. */
const maximumCharacters = 100_000;

/** Rows of blocks that a transaction deletes at most, beside the rollup and the count of changes. */
const rowsPerChange = 90;

/** Between two changes there is time for a whole query. */
const pauseMilliseconds = 100;

const maximumReadings = 10;

type BlockRow = DirectoryRow & { writes: number };

type Rollup = {
  /** Its newest block when it was made: it stands for all blocks after the rollup before it, up to this one. */
  last: number;
  change: number;
  sums: string;
  blocks: string;
};

type Rows = { change: number; blocks: BlockRow[]; rollups: Rollup[]; others: table.WireRow[] };

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

const readRows = async (org: number, kind: ListKind): Promise<Rows> => {
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

const rollupOf = (row: table.WireRow): Rollup => ({
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
const divide = (
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

const merged = (rollup: Rollup, since: readonly DirectoryRow[]): DirectoryRow[] => {
  const blocks = blocksFrom(rollup.blocks);
  for (const { block, counts } of since) blocks.set(block, added([blocks.get(block) ?? new Map(), counts]));
  return [...blocks]
    .map(([block, counts]) => ({ block, from: undefined, counts }))
    .sort((one, other) => other.block - one.block);
};

const added = (all: readonly Counts[]): Counts => {
  const [first = new Map<string, number>(), ...others] = all;
  if (others.length === 0) return first;
  const sums = new Map(first);
  for (const counts of others) {
    for (const [facet, count] of counts) sums.set(facet, (sums.get(facet) ?? 0) + count);
  }
  return sums;
};

/** `12-0=112,12-1=400`: facets are of letters, digits, `_` and `-`. */
const textOf = (counts: Counts): string =>
  [...counts]
    .filter(([, count]) => count !== 0)
    .map(([facet, count]) => `${facet}=${count}`)
    .sort()
    .join(",");

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
const blocksFrom = (text: string): Map<number, Counts> => {
  const blocks = new Map<number, Counts>();
  if (text === "") return blocks;
  for (const entry of text.split(";")) {
    const end = entry.indexOf(":");
    blocks.set(Number(entry.slice(0, end)), countsFrom(entry.slice(end + 1)));
  }
  return blocks;
};

/** What a rollup's row says of these blocks. */
export const rolledUp = (
  rows: readonly { block: number; counts: Counts }[],
): Pick<Rollup, "sums" | "blocks"> => ({
  sums: textOf(added(rows.map((row) => row.counts))),
  blocks: rows.map(({ block, counts }) => `${block}:${textOf(counts)}`).join(";"),
});

/**
 * Rolls up the rows of blocks: the oldest 64 as often as there are so many and a newer one, and those that rolled up blocks
 * have got since when there are so many. Costs two write units for each row and a few for each rollup; whoever changes one of
 * the rows meanwhile makes it stop, and the next call goes on.
 */
export const rollUp = async (org: number, kind: ListKind): Promise<void> => {
  const { change, blocks, rollups } = await readRows(org, kind);
  const { unrolled, changed } = divide(blocks, rollups);
  const changes: Change[] = [];

  // The newest block is still being written to.
  const oldestFirst = unrolled.slice(1).reverse();
  for (const rows of parts(oldestFirst, blocksPerRollup)) {
    const last = rows.at(-1)?.block;
    if (rows.length < blocksPerRollup || last === undefined) break;
    changes.push({ rollup: { last, ...rolledUp(rows) }, rows });
  }
  if (changed.flat().length >= blocksPerRollup) {
    for (const [index, rollup] of rollups.entries()) {
      const rows = (changed[index] ?? []).slice(0, rowsPerChange);
      if (rows.length > 0)
        changes.push({ rollup: { last: rollup.last, ...rolledUp(merged(rollup, rows)) }, rows });
    }
  }

  await write(org, kind, change, changes);
};

type Change = { rollup: Omit<Rollup, "change">; rows: readonly BlockRow[] };

/** Writes rollups and deletes the rows that are in them now. `change`: the last one when they were read. */
const write = async (
  org: number,
  kind: ListKind,
  change: number,
  changes: readonly Change[],
): Promise<void> => {
  let current = change;
  for (const { rollup, rows } of changes) {
    if (rollup.blocks.length > maximumCharacters) continue;
    if (current !== change) await setTimeout(pauseMilliseconds);
    const { last, sums, blocks } = rollup;
    const next = current + 1;
    try {
      await table.transact([
        {
          update: keys.rollups(org, kind),
          set: { change: next },
          if: current === 0 ? absent : condition("#change = :current", { current }),
        },
        { put: { ...keys.rollup(org, kind, last), change: next, sums, blocks } },
        ...rows.map(
          ({ block, writes }): Write => ({
            delete: keys.directory(org, kind, block),
            if: condition("#writes = :writes", { writes }),
          }),
        ),
      ]);
    } catch (error) {
      if (error instanceof table.TransactionRefused) return;
      throw error;
    }
    current = next;
  }
};

/** A block's own row, and its counters in a rollup. */
export type StoredBlock = { own: Item | undefined; rolledUp: Counts | undefined };

/** A block as it is stored. What is read first may be older than a change that moved counters from one to the other. */
export const stored = async (org: number, kind: ListKind, block: number): Promise<StoredBlock> => {
  const { pk, sk } = keys.rollup(org, kind, block);
  const [own, [rollup]] = await Promise.all([
    table.get(keys.directory(org, kind, block)),
    table.queryWire({ pk, from: sk, to: `${rollupPrefix}~`, limit: 1 }),
  ]);
  return { own, rolledUp: rollup && blocksFrom(rollupOf(rollup).blocks).get(block) };
};

/** The newest blocks of rollups whose sums are not those of their blocks, and what makes them so. */
export const wrongSums = async (
  org: number,
  kind: ListKind,
): Promise<{ lasts: number[]; mend: () => Promise<void> }> => {
  const { change, rollups } = await readRows(org, kind);
  const wrong = rollups
    .map((rollup): Change => ({ rollup: { ...rollup, ...rolledUp(merged(rollup, [])) }, rows: [] }))
    .filter(({ rollup }, index) => rollup.sums !== rollups[index]?.sums);
  return {
    lasts: wrong.map(({ rollup }) => rollup.last),
    mend: () => write(org, kind, change, wrong),
  };
};
