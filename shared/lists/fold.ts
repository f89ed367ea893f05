/**
 * A fold holds the counters of up to 64 blocks in one row, so that the directory of a long list stays small.
 * These functions are pure: what a fold says together with own rows, and what the next fold is. compact.ts
 * writes folds; docs/lists.md explains them.
 */

/** Number of members by group key. May be 0. */
export type Counts = ReadonlyMap<string, number>;

/** An own row of a block, in which its writers count. A block that many write to has several, which are added up. */
export type OwnRow = {
  block: number;
  part: number;
  /** ISO 8601: no member of this block is older, and no member of an earlier block is younger. */
  from: string;
  /** What writers have added and removed since the row was made. */
  counts: Counts;
  /** A random word, set when the row is made. A row that is deleted and made again has another one. */
  life: string;
  /** How often the row has been written to in this life. */
  writes: number;
};

/**
 * What a fold took from an own row. While the row exists with the same `life`, these counters are in both.
 */
export type Taken = { life: string; writes: number; counts: Record<string, number> };

/** Values of blocks: runs of the first block and the values of that block and of those that follow it, one after the other. */
export type Runs = number[][];

export type Fold = {
  /** Its place in the list: 0 for the fold of the oldest blocks. */
  index: number;
  /** The number of its last change. Numbers count the changes of all folds of the list. */
  number: number;
  /**
   * Whether it takes no further blocks, for good. Otherwise two folders could put one block into two folds.
   */
  isFull: boolean;
  /** Its newest block. Blocks up to this one that are in no earlier fold belong to this fold. */
  last: number;
  /** By group key: the number of members of each block that has some. */
  groups: Record<string, Runs>;
  /** Blocks without members. */
  empty: number[];
  /**
   * When blocks began, in milliseconds after the block before began; the first in milliseconds after 1970. Empty in lists without
   * a time boundary.
   */
  from: Runs;
  /** What it took, by the name of the own row. */
  taken: Record<string, Taken>;
};

/** Whether the counters of a row are intact. A damaged row is not folded, so that the audit finds it. */
export const isSound = ({ counts, life }: OwnRow): boolean =>
  life !== "" && [...counts.values()].every(Number.isSafeInteger);

/** What folds call an own row: the block, and the part unless it is 0. */
export const nameOf = ({ block, part }: Pick<OwnRow, "block" | "part">): string =>
  part === 0 ? String(block) : `${block}.${part}`;

/** What the directory says of a block. */
export type Block = {
  block: number;
  /** As in `OwnRow`; undefined if the folds of this list keep no times. */
  from: string | undefined;
  counts: Map<string, number>;
  /** By group key, the ids of all its members, newest first, where they are known (rare.ts). */
  rare: Map<string, readonly number[]>;
};

/** Ids of rare members, by block and group key. */
export type RareIds = ReadonlyMap<number, ReadonlyMap<string, readonly number[]>>;

/**
 * A fold is full with this many blocks, or this many characters of counters (one block has 15 KB at most).
 */
export type FoldLimits = { blocks: number; characters: number };
export const foldLimits: FoldLimits = { blocks: 64, characters: 100_000 };

const emptyBlock = (block: number): Block => ({ block, from: undefined, counts: new Map(), rare: new Map() });

const countsOf = (taken: Taken | undefined): Counts => new Map(Object.entries(taken?.counts ?? {}));

/** Calls `visit` with each block that has a value, ascending. */
const forEachValue = (runs: Runs, visit: (block: number, value: number) => void): void => {
  for (const [first = 0, ...values] of runs) {
    for (const [place, value] of values.entries()) visit(first + place, value);
  }
};

/** Adds the value of a block; blocks come in ascending order. */
const append = (runs: Runs, block: number, value: number): void => {
  const last = runs.at(-1);
  if (last !== undefined && block === (last[0] ?? 0) + last.length - 1) last.push(value);
  else runs.push([block, value]);
};

const add = (sums: Map<string, number>, counts: Counts, sign: 1 | -1): void => {
  for (const [groupKey, count] of counts) sums.set(groupKey, (sums.get(groupKey) ?? 0) + sign * count);
};

/** What a fold says about its blocks, without what their own rows have counted since. */
export const foldedBlocks = (fold: Fold): Map<number, Block> => {
  const blocks = new Map<number, Block>();
  const of = (number: number): Block => {
    const block = blocks.get(number) ?? emptyBlock(number);
    blocks.set(number, block);
    return block;
  };
  for (const number of fold.empty) of(number);
  for (const [groupKey, runs] of Object.entries(fold.groups)) {
    forEachValue(runs, (block, count) => of(block).counts.set(groupKey, count));
  }
  let beganAt = 0;
  forEachValue(fold.from, (block, milliseconds) => {
    beganAt += milliseconds;
    of(block).from = new Date(beganAt).toISOString();
  });
  return blocks;
};

/** Counters that are both in a fold and in an own row. */
const inBoth = (fold: Fold, row: OwnRow): Counts => {
  const taken = fold.taken[nameOf(row)];
  return taken?.life === row.life ? countsOf(taken) : new Map();
};

/** Members by group key of all blocks of a fold. `own`: the own rows of its blocks. */
export const totalsOf = (fold: Fold, own: readonly OwnRow[]): Map<string, number> => {
  const totals = new Map<string, number>();
  for (const [groupKey, runs] of Object.entries(fold.groups)) {
    let sum = 0;
    for (const run of runs) for (let place = 1; place < run.length; place++) sum += run[place] ?? 0;
    totals.set(groupKey, sum);
  }
  for (const row of own) {
    add(totals, row.counts, 1);
    add(totals, inBoth(fold, row), -1);
  }
  return totals;
};

/** A block that is in no fold, from all of its own rows: the last of them that knows when the block began tells it. */
export const unfoldedBlock = (block: number, rows: readonly OwnRow[]): Block => {
  const counts = new Map<string, number>();
  for (const row of rows) add(counts, row.counts, 1);
  // A row that only counts changes of members does not know when its block began.
  return { block, from: rows.findLast(({ from }) => from !== "")?.from ?? "", counts, rare: new Map() };
};

/** The blocks of a fold, newest first. The value of a block is fold + own rows − what is in both. */
export const blocksOf = (fold: Fold, own: readonly OwnRow[], rare: RareIds): Block[] => {
  const blocks = foldedBlocks(fold);
  for (const [number, ids] of rare) {
    const block = blocks.get(number);
    if (block !== undefined) block.rare = new Map(ids);
  }
  for (const row of own) {
    const block = blocks.get(row.block) ?? emptyBlock(row.block);
    add(block.counts, row.counts, 1);
    add(block.counts, inBoth(fold, row), -1);
    block.from = row.from || block.from;
    for (const groupKey of changedGroups(fold, row, block)) block.rare.delete(groupKey);
    blocks.set(row.block, block);
  }
  return [...blocks.values()].sort((one, other) => other.block - one.block);
};

/**
 * Group keys whose members may differ from those at the time of the fold. A counter of 0 counts too, because
 * one member may have left and another one come. If a row was written to after the fold took it, any of its
 * counters may have moved.
 */
const changedGroups = (fold: Fold, row: OwnRow, block: Block): string[] => {
  const taken = fold.taken[nameOf(row)];
  if (taken?.life !== row.life) return [...row.counts.keys()];
  return taken.writes === row.writes ? [] : [...block.counts.keys()];
};

/** Whether a fold has taken a row as it is. Such a row only waits to be deleted. */
export const isTaken = (fold: Fold | undefined, row: OwnRow): boolean => {
  const taken = fold?.taken[nameOf(row)];
  return taken?.life === row.life && taken.writes === row.writes;
};

/** Which own rows belong to each of `folds` (newest first), in the same order, and which to none. */
export const assign = (
  own: readonly OwnRow[],
  folds: readonly Fold[],
): { unfolded: OwnRow[]; folded: OwnRow[][] } => {
  const folded: OwnRow[][] = folds.map(() => []);
  const unfolded: OwnRow[] = [];
  for (const row of own) {
    const place = folds.findLastIndex(({ last }) => row.block <= last);
    (folded[place] ?? unfolded).push(row);
  }
  return { unfolded, folded };
};

/**
 * The fold after it has taken `rows`. `own`: all own rows of its blocks as they were read. The new fold no
 * longer names rows that are gone.
 */
export const withRows = (
  fold: Fold,
  {
    rows,
    own,
    number,
    isTimed,
    limits,
  }: {
    rows: readonly OwnRow[];
    own: readonly OwnRow[];
    number: number;
    isTimed: boolean;
    limits: FoldLimits;
  },
): Fold => {
  const lives = new Map(own.map((row) => [nameOf(row), row.life]));
  const stillThere = Object.entries(fold.taken).filter(([name, { life }]) => lives.get(name) === life);
  const blocks = blocksOf(fold, rows, new Map());
  const next: Fold = {
    index: fold.index,
    number,
    isFull: fold.isFull,
    last: Math.max(fold.last, ...rows.map(({ block }) => block)),
    groups: {},
    empty: [],
    from: [],
    taken: {
      ...Object.fromEntries(stillThere),
      ...Object.fromEntries(
        rows.map((row) => {
          const { life, writes, counts } = row;
          return [nameOf(row), { life, writes, counts: Object.fromEntries(counts) }];
        }),
      ),
    },
  };
  let beganAt = 0;
  for (const { block, from, counts } of blocks.reverse()) {
    const held = [...counts].filter(([, count]) => count !== 0);
    if (held.length === 0) next.empty.push(block);
    for (const [groupKey, count] of held) {
      const runs = next.groups[groupKey] ?? [];
      append(runs, block, count);
      next.groups[groupKey] = runs;
    }
    if (isTimed && from !== undefined) {
      append(next.from, block, Date.parse(from) - beganAt);
      beganAt = Date.parse(from);
    }
  }
  next.isFull ||= blocks.length >= limits.blocks || charactersOf(next) >= limits.characters;
  return next;
};

/**
 * Length of the counters of a fold. A row of the table has at most 400 KB, and `taken` can be as long again.
 */
export const charactersOf = ({ groups }: Fold): number => JSON.stringify(groups).length;

export const emptyFold = (index: number): Fold => ({
  index,
  number: 0,
  isFull: false,
  last: -1,
  groups: {},
  empty: [],
  from: [],
  taken: {},
});
