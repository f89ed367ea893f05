/**
 * Compaction of a directory: folds the own rows of older blocks. The protocol has four steps. A folder may
 * die after each of them, and none of them makes a reader wait (docs/lists.md):
 *
 * 1. Read the directory. All later decisions follow from this reading.
 * 2. Take a number: raise `~FOLDS` by one, on the condition that no other folder has raised it since step 1.
 * 3. Write one fold with this number, on the condition that the stored fold is the one that was read. The
 *    fold names the own rows that it took, with their counters.
 * 4. Delete each row that it took, on the condition that the row has not been written to since step 1.
 */

import { chunk } from "../aws/table/chunk.ts";
import { absent, type Condition, condition } from "../aws/table/condition.ts";
import { keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { type DirectoryRows, foldAttributes, rareAttributes, readRows } from "./directory.ts";
import {
  assign,
  blocksOf,
  charactersOf,
  emptyFold,
  type Fold,
  type FoldLimits,
  foldedBlocks,
  foldLimits,
  isSound,
  isTaken,
  nameOf,
  type OwnRow,
  type RareIds,
  withRows,
} from "./fold.ts";
import { type ReadMembers, rareMembers, readMembersOf } from "./rare.ts";

/** Lists that grow with every scan. Scans are few, and deliveries are deleted with their channels. */
export const foldedKinds: readonly ListKind[] = ["EMAIL", "FINDING", "ACTIVITY"];

/** Lists whose pages have a time boundary. Their folds keep the times when blocks began. */
export const timedKinds: readonly ListKind[] = ["SCAN", "ACTIVITY"];

/** Fewer new blocks are left alone, because rewriting the newest fold for them costs more than it saves. */
const worthFolding = 2;

/** A fold is rewritten when its blocks have this many own rows, or half as many as there are blocks. */
const worthRewriting = 8;

/**
 * A fold is also rewritten when it names this many rows that are deleted, since every reader pays for the
 * names.
 */
const worthForgetting = 16;

/** How many requests are sent at the same time. */
const concurrency = 16;

/**
 * What compaction asks of the table. The tests replace it by a model in memory
 * (test/lists/compact-model.test.ts).
 */
export type FoldStore = {
  readRows: () => Promise<DirectoryRows>;
  readMembers: ReadMembers;
  /** Raises `~FOLDS` from `number` by one. False when the stored number is another one. */
  takeNumber: (number: number) => Promise<boolean>;
  /**
   * Writes a fold. `was`: the number of the stored fold (0: none). False when the stored number is another
   * one.
   */
  writeFold: (fold: Fold, was: number) => Promise<boolean>;
  writeRare: (fold: Fold, rare: RareIds) => Promise<void>;
  /** Deletes an own row unless it has been written to since it was read. */
  deleteRow: (row: OwnRow) => Promise<void>;
};

/**
 * Folds a list, one fold after another, until nothing is worth folding, `mayGoOn` returns false or another
 * folder is at work. A fold costs about three write units for each KB of it and one for each row that it
 * takes, and the read units of those blocks whose rare members are not known.
 */
export const compact = (org: number, kind: ListKind, mayGoOn: () => boolean = () => true): Promise<void> =>
  compactIn(storeOf(org, kind), { isTimed: timedKinds.includes(kind), limits: foldLimits, mayGoOn });

export const compactIn = async (
  store: FoldStore,
  { isTimed, limits, mayGoOn }: { isTimed: boolean; limits: FoldLimits; mayGoOn: () => boolean },
): Promise<void> => {
  while (mayGoOn()) {
    const rows = await store.readRows();
    for (const row of leftOver(rows)) await store.deleteRow(row);
    const change = nextChange(rows, limits);
    if (change === undefined) return;
    const { fold, taking, own } = change;
    const next = withRows(fold, { rows: taking, own, number: rows.taken + 1, isTimed, limits });
    const rare = await rareOf(store, next, fold, own, rows.rare.get(fold.index) ?? new Map());
    if (!mayGoOn() || !(await store.takeNumber(rows.taken))) return;
    if (!(await store.writeFold(next, fold.number))) return;
    await store.writeRare(next, rare);
    for (const part of chunk(taking, concurrency)) await Promise.all(part.map(store.deleteRow));
  }
};

/** `taking`: own rows that the fold takes over. `own`: all own rows of its blocks. */
type FoldChange = { fold: Fold; taking: readonly OwnRow[]; own: readonly OwnRow[] };

/**
 * The next fold to write, decided by one reading of the directory. Undefined when nothing is worth folding.
 */
export const nextChange = ({ own, folds }: DirectoryRows, limits: FoldLimits): FoldChange | undefined => {
  const { unfolded, folded } = assign(own, folds);
  // The newest block is left out, because it is still written to.
  const full = unfolded.filter((row) => row.block !== unfolded[0]?.block && isSound(row)).reverse();
  const [newest] = folds;
  if (new Set(full.map(({ block }) => block)).size >= worthFolding) {
    const fold = newest === undefined || newest.isFull ? emptyFold((newest?.index ?? -1) + 1) : newest;
    return {
      fold,
      taking: fitting(fold, full, limits),
      own: [...full, ...(fold === newest ? (folded[0] ?? []) : [])],
    };
  }
  for (const [place, fold] of folds.entries()) {
    const rows = folded[place] ?? [];
    const changed = rows.filter((row) => isSound(row) && !isTaken(fold, row));
    const gone =
      Object.keys(fold.taken).length -
      rows.filter((row) => row.life === fold.taken[nameOf(row)]?.life).length;
    const isWorth = changed.length >= Math.min(worthRewriting, Math.max(2, foldedBlocks(fold).size / 2));
    if (isWorth && charactersOf(fold) < 2 * limits.characters) return { fold, taking: changed, own: rows };
    if (gone >= worthForgetting) return { fold, taking: [], own: rows };
  }
  return undefined;
};

/** Own rows that a fold has taken, and that its folder died before deleting. */
const leftOver = ({ own, folds }: DirectoryRows): OwnRow[] =>
  assign(own, folds).folded.flatMap((rows, place) => rows.filter((row) => isTaken(folds[place], row)));

/** The rows of the oldest blocks: as many as the fold has room for, and at least one. */
const fitting = (fold: Fold, rows: readonly OwnRow[], limits: FoldLimits): OwnRow[] => {
  const room = Math.max(1, limits.blocks - foldedBlocks(fold).size);
  const blocks = new Set([...new Set(rows.map(({ block }) => block))].slice(0, room));
  let characters = charactersOf(fold);
  return rows.filter((row, index) => {
    const fits = blocks.has(row.block) && (index === 0 || characters < limits.characters);
    characters += JSON.stringify([...row.counts]).length;
    return fits;
  });
};

/** The rare members of all blocks of the next fold. Reads those that are not known or may have changed. */
const rareOf = async (
  store: FoldStore,
  next: Fold,
  before: Fold,
  own: readonly OwnRow[],
  known: RareIds,
): Promise<RareIds> => {
  const knownOf = new Map(blocksOf(before, own, known).map(({ block, rare }) => [block, rare]));
  const found = new Map<number, ReadonlyMap<string, readonly number[]>>();
  for (const part of chunk([...foldedBlocks(next).values()], concurrency)) {
    await Promise.all(
      part.map(async (block) => {
        const rare = knownOf.get(block.block) ?? new Map();
        const ids = await rareMembers({ ...block, rare }, store.readMembers);
        if (ids.size > 0) found.set(block.block, ids);
      }),
    );
  }
  return found;
};

const storeOf = (org: number, kind: ListKind): FoldStore => ({
  readRows: () => readRows(org, kind, { withRare: true }),
  readMembers: readMembersOf(org, kind),
  takeNumber: (number) =>
    isWritten(
      table.update(keys.foldNumber(org, kind), {
        set: { number: number + 1 },
        if: number === 0 ? absent : condition("#number = :number", { number }),
      }),
    ),
  writeFold: (fold, was) =>
    isWritten(table.put({ ...keys.fold(org, kind, fold.index), ...foldAttributes(fold) }, hasNumber(was))),
  writeRare: async (fold, rare) => {
    const row = { ...keys.rare(org, kind, fold.index), ...rareAttributes(fold.number, rare) };
    const isOlder = condition("attribute_not_exists(#pk) OR #number < :number", { number: fold.number });
    await table.attempt(table.put(row, isOlder));
  },
  deleteRow: async ({ block, part, life, writes }) => {
    const isAsRead = condition("#life = :life AND #writes = :writes", { life, writes });
    await table.attempt(table.remove(keys.directory(org, kind, block, part), isAsRead));
  },
});

const hasNumber = (number: number): Condition =>
  number === 0 ? absent : condition("#number = :number", { number });

/** A write can look refused because its reply was lost. The next folder then finishes the work. */
const isWritten = async (write: Promise<unknown>): Promise<boolean> => (await table.attempt(write)).written;
