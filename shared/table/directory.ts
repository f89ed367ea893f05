/**
 * The directory of a counted list (counted-list.ts): how many members of each facet every block has, newest block first.
 *
 * A block has a row of counters, which every write of a member moves. A list call reads the whole directory, so where
 * blocks are many their rows are *rolled up*: one row holds the counters of 64 blocks, and a block's own row, which writers
 * make again without knowing, holds what has changed since. A block's counters are the sum of both. A row beside the rollup
 * tells where in the blocks the members of facets are: they are there until the block's own row has a counter of the facet.
 *
 * A query may see a part of a transaction, so who moves counters into a rollup (roll-up.ts) numbers the change in the row
 * `!ROLLUPS` before and in the row `~ROLLUPS` after it. A query goes through rows in order; this one meets the latter first,
 * then the blocks, then the rollups, and the former last. Both numbers are the same if nothing was moved meanwhile;
 * otherwise the directory is read again.
 */
import { setTimeout } from "node:timers/promises";
import { beside, type Key, keys, type ListKind, marksPrefix, padded, rollupPrefix } from "./keys.ts";
import type { Marks } from "./marks.ts";
import * as table from "./table.ts";

/** Encoded facet to number of members; may be 0. */
export type Counts = ReadonlyMap<string, number>;

export type DirectoryRow = {
  block: number;
  /** No member of this block is older, none of an earlier block is younger. Rollups of some lists do not keep it. */
  from: string | undefined;
  counts: Counts;
  /** As far as they were read, a rollup has them and no member of the facet was moved since. */
  marks: Marks;
};

/** A block, or those of a rollup: they are only looked into one by one where it matters. */
export type Section = {
  /** Of the row that it comes from. */
  key: Key;
  /** Of all its blocks together. */
  counts: Counts;
  /** Of its oldest block. */
  from: string | undefined;
  /** Newest first. */
  rows: () => DirectoryRow[];
};

/** Newest first. */
export type Directory = Section[];

/** Attributes of a block's row that are no counters. `writes` tells whether it has changed. */
const ownAttributes = new Set(["pk", "sk", "from", "writes"]);

/** Whether an attribute of a block's row cannot be the name of a facet. */
export const isReserved = (name: string): boolean => ownAttributes.has(name);

/** Waits before each reading: a change takes some 50 ms, and there are pauses between changes. In all longer than the next. */
const waitsMilliseconds = [0, 20, 50, 100, 200, 400, 800, 1_200, 1_600, 2_000];

/** Nobody makes a change later than this after it was begun (roll-up.ts keeps well below): it was made, or it never will be. */
const overMilliseconds = 5_000;

export type BlockRow = DirectoryRow & { writes: number };

export type Rollup = {
  /** Its newest block when it was made: it stands for all blocks after the rollup before it, up to this one. */
  last: number;
  change: number;
  /**
   * `12-0=7:112,400,10:3;12-1=7:400;=9:0`: by facet (of letters, digits, `_` and `-`) the blocks that have members of it, 7, 8 and
   * 10, and those that have none.
   */
  facets: string;
  /**
   * Of the row beside it: in the same way the marks of facets (marks.ts). So a page whose members are one here and one there is read
   * by their ids and not block by block.
   */
  marks: string;
  /**
   * `=7:lq3x9abc,lq4a0b12`: in the same way when blocks began, in milliseconds to the base 36; empty in lists without time
   * boundary.
   */
  from: string;
};

/** `begun` and `ended` number the last change of the rollups; undefined when there never was one. */
export type Rows = {
  begun: number | undefined;
  ended: number | undefined;
  blocks: BlockRow[];
  rollups: Rollup[];
  others: table.WireRow[];
  /** How long the query took. */
  milliseconds: number;
};

/** Whether marks are wanted too: 1 KB for 64 blocks is usual; 41 where every block has 32 facets of one member each. */
type Options = { withMarks?: boolean };

/** The directory, and the rows beside it. */
export const read = async (
  org: number,
  kind: ListKind,
  options: Options = {},
): Promise<{ directory: Directory; beside: table.WireRow[] }> => {
  const { blocks, rollups, others } = await readRows(org, kind, options);
  return { directory: sectionsOf(org, kind, blocks, rollups), beside: others };
};

/** All blocks one by one. */
export const rowsOf = (directory: Directory): DirectoryRow[] =>
  directory.flatMap((section) => section.rows());

/** The rows as they are stored, newest first, with no change half seen. */
export const readRows = async (org: number, kind: ListKind, options: Options = {}): Promise<Rows> => {
  let first: number | undefined;
  for (const [reading, wait] of waitsMilliseconds.entries()) {
    if (wait > 0) await setTimeout(wait);
    const { isWhole, ...rows } = await readOnce(org, kind, options);
    if (reading === 0) first = rows.begun;
    // Also over by the clock of who reads, whatever that of who began it said.
    const isWaitedOut = reading === waitsMilliseconds.length - 1 && rows.begun === first;
    if (isWhole || isWaitedOut) return rows;
  }
  throw new Error(`The directory of ${kind} kept being rolled up while it was read`);
};

const readOnce = async (
  org: number,
  kind: ListKind,
  { withMarks = false }: Options,
): Promise<Rows & { isWhole: boolean }> => {
  const { pk, sk: ended } = keys.rollupsEnded(org, kind);
  const { sk: begun } = keys.rollupsBegun(org, kind);
  const startedAt = Date.now();
  const wireRows = await table.queryWire({ pk, descending: true, from: withMarks ? undefined : begun });
  const milliseconds = Date.now() - startedAt;
  const rows: Rows = {
    begun: undefined,
    ended: undefined,
    blocks: [],
    rollups: [],
    others: [],
    milliseconds,
  };
  const markRows: table.WireRow[] = [];
  let begunAt = "";
  for (const row of wireRows) {
    const name = row.sk?.S ?? "";
    if (name === ended) rows.ended = Number(row.change?.N);
    else if (name === begun) {
      rows.begun = Number(row.change?.N);
      begunAt = row.at?.S ?? "";
    } else if (name.startsWith(marksPrefix)) markRows.push(row);
    else if (!name.startsWith(beside)) rows.blocks.push(blockRow(row));
    else if (name.startsWith(rollupPrefix)) rows.rollups.push(rollupOf(row));
    else rows.others.push(row);
  }
  addMarks(rows.rollups, markRows);
  const isOver = begunAt < new Date(startedAt - overMilliseconds).toISOString();
  return { ...rows, isWhole: rows.begun === rows.ended || isOver };
};

const blockRow = (row: table.WireRow): BlockRow => {
  const counts = new Map<string, number>();
  for (const name in row) if (!isReserved(name)) counts.set(name, Number(row[name]?.N));
  return {
    block: Number(row.sk?.S),
    from: row.from?.S ?? "",
    writes: Number(row.writes?.N ?? 0),
    counts,
    marks: noMarks,
  };
};

const noMarks: Marks = new Map();

const rollupOf = (row: table.WireRow): Rollup => ({
  last: Number(row.sk?.S?.slice(rollupPrefix.length)),
  change: Number(row.change?.N),
  facets: row.facets?.S ?? "",
  marks: "",
  from: row.from?.S ?? "",
});

/** Marks belong to a rollup when they were written by the same change. */
const addMarks = (rollups: readonly Rollup[], markRows: readonly table.WireRow[]): void => {
  const byLast = new Map(rollups.map((rollup) => [padded(rollup.last), rollup]));
  for (const { sk, change, marks } of markRows) {
    const rollup = byLast.get(sk?.S?.slice(marksPrefix.length) ?? "");
    if (rollup !== undefined && rollup.change === Number(change?.N)) rollup.marks = marks?.S ?? "";
  }
};

/** The rollup that is about a block, if there is one. */
export const rollupOfBlock = async (
  org: number,
  kind: ListKind,
  block: number,
): Promise<Rollup | undefined> => {
  const { pk, sk } = keys.rollup(org, kind, block);
  const [row] = await table.queryWire({ pk, from: sk, to: `${rollupPrefix}~`, limit: 1 });
  if (row === undefined) return undefined;
  const rollup = rollupOf(row);
  const { sk: marks } = keys.marks(org, kind, rollup.last);
  addMarks([rollup], await table.queryWire({ pk, from: marks, to: marks }));
  return rollup;
};

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
      from: row.from,
      rows: () => [row],
    })),
    ...rollups.map((rollup, index): Section => {
      const since = changed[index] ?? [];
      const counts = new Map<string, number>();
      for (const { facet, blocks } of facetsOf(rollup.facets)) {
        if (facet !== noFacet) counts.set(facet, sumOf(blocks));
      }
      for (const row of since) add(counts, row.counts);
      return {
        key: keys.rollup(org, kind, rollup.last),
        counts,
        from: oldestOf(rollup, since),
        rows: () => merged(rollup, since),
      };
    }),
  ];
};

/** When the oldest block began; undefined where a rollup keeps no times. A late block can be older than those of its rollup. */
const oldestOf = (rollup: Rollup, since: readonly BlockRow[]): string | undefined => {
  const first = timeOf(/:(\w+)/.exec(rollup.from)?.[1]);
  return since.reduce((oldest, { from }) => (oldest && from && from < oldest ? from : oldest), first);
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
  const blocks = blocksOf(rollup);
  for (const { block, counts, from } of since) {
    const sum = blocks.get(block) ?? emptyBlock();
    add(sum.counts, counts);
    // A facet whose counter says 0 may have lost one member and got another.
    for (const facet of counts.keys()) sum.marks.delete(facet);
    blocks.set(block, { ...sum, from: from || sum.from });
  }
  return [...blocks].map(([block, of]) => ({ block, ...of })).sort((one, other) => other.block - one.block);
};

type RolledUpBlock = {
  counts: Map<string, number>;
  marks: Map<string, string>;
  from: string | undefined;
};

const emptyBlock = (): RolledUpBlock => ({ counts: new Map(), marks: new Map(), from: undefined });

/** What a rollup says of each of its blocks. */
export const blocksOf = (rollup: Rollup): Map<number, RolledUpBlock> => {
  const found = new Map<number, RolledUpBlock>();
  forEachEntry(rollup.facets, (facet, block, count) => {
    const entry = found.get(block) ?? emptyBlock();
    if (facet !== noFacet) entry.counts.set(facet, Number(count));
    found.set(block, entry);
  });
  forEachEntry(rollup.marks, (facet, block, marks) => {
    found.get(block)?.marks.set(facet, marks);
  });
  forEachEntry(rollup.from, (_, block, time) => {
    const entry = found.get(block);
    if (entry !== undefined) entry.from = timeOf(time);
  });
  return found;
};

const timeOf = (milliseconds: string | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(Number.parseInt(milliseconds, 36)).toISOString();

/** Goes through a text of a rollup. */
const forEachEntry = (text: string, visit: (facet: string, block: number, entry: string) => void): void => {
  for (const { facet, blocks } of facetsOf(text)) {
    let block = 0;
    for (const entry of blocks.split(",")) {
      const end = entry.indexOf(":");
      block = end < 0 ? block + 1 : Number(entry.slice(0, end));
      visit(facet, block, entry.slice(end + 1));
    }
  }
};

/** What blocks without members are listed under, and times. */
const noFacet = "";

const facetsOf = (text: string): { facet: string; blocks: string }[] =>
  text === ""
    ? []
    : text.split(";").map((part) => {
        const end = part.indexOf("=");
        return { facet: part.slice(0, end), blocks: part.slice(end + 1) };
      });

const comma = ",".charCodeAt(0);
const colon = ":".charCodeAt(0);
const minus = "-".charCodeAt(0);
const zero = "0".charCodeAt(0);

/** Of `7:112,400,10:3` 515: digit by digit, since every list call adds up thousands of them. */
const sumOf = (blocks: string): number => {
  let sum = 0;
  let count = 0;
  let sign = 1;
  for (let index = 0; index < blocks.length; index++) {
    const code = blocks.charCodeAt(index);
    if (code === comma) {
      sum += sign * count;
      count = 0;
      sign = 1;
    } else if (code === colon) count = 0;
    else if (code === minus) sign = -1;
    else count = count * 10 + code - zero;
  }
  return sum + sign * count;
};

/** Lists whose pages have a time boundary. */
export const timedKinds: readonly ListKind[] = ["SCAN", "ACTIVITY"];

export type RollupTexts = Pick<Rollup, "facets" | "marks" | "from">;

/** Blocks as a rollup holds them. */
export const textsOf = (kind: ListKind, rows: readonly DirectoryRow[]): RollupTexts => {
  const ascending = [...rows].sort((one, other) => one.block - other.block);
  const facets = new RollupText();
  const marks = new RollupText();
  const from = new RollupText();
  for (const row of ascending) {
    const held = [...row.counts].filter(([, count]) => count !== 0);
    for (const [facet, count] of held.length > 0 ? held : [[noFacet, 0] as const]) {
      facets.add(facet, row.block, String(count));
    }
    for (const [facet, of] of row.marks) if (of !== "") marks.add(facet, row.block, of);
    if (row.from && timedKinds.includes(kind))
      from.add(noFacet, row.block, Date.parse(row.from).toString(36));
  }
  return { facets: facets.toString(), marks: marks.toString(), from: from.toString() };
};

/** Takes the entries of blocks, in ascending order; of blocks that follow each other only the first is named. */
class RollupText {
  readonly #byFacet = new Map<string, { last: number; entries: string[] }>();

  add(facet: string, block: number, entry: string): void {
    const { last, entries } = this.#byFacet.get(facet) ?? { last: -2, entries: [] };
    entries.push(block === last + 1 ? entry : `${block}:${entry}`);
    this.#byFacet.set(facet, { last: block, entries });
  }

  toString(): string {
    return [...this.#byFacet].map(([facet, { entries }]) => `${facet}=${entries.join(",")}`).join(";");
  }
}

const add = (sums: Map<string, number>, counts: Counts): void => {
  for (const [facet, count] of counts) sums.set(facet, (sums.get(facet) ?? 0) + count);
};
