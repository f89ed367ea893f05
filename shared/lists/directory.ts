/**
 * The directory of a counted list: how many members of each group every block has, newest block first. It
 * consists of own rows of blocks, in which writers count, and of folds (fold.ts), which hold the counters of
 * older blocks. One query reads all of it.
 *
 * The query meets the row `~FOLDS`, then own rows, then folds. A fold that was made after `~FOLDS` was read
 * has a higher number than `~FOLDS`, and the directory is then read again. No reader waits for a writer
 * (docs/lists.md).
 */

import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { Item } from "../aws/table/condition.ts";
import { foldPrefix, keys, type ListKind, rarePrefix } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import {
  assign,
  type Block,
  blocksOf,
  type Counts,
  type Fold,
  foldedBlocks,
  isSound,
  type OwnRow,
  type RareIds,
  totalsOf,
  unfoldedBlock,
} from "./fold.ts";
import { isReserved } from "./group-key.ts";

export type { Block, Counts } from "./fold.ts";

/** One block, or all blocks of a fold. The blocks of a fold are worked out only where they matter. */
export type Section = {
  /** The counters of all its blocks together. */
  counts: Counts;
  /** ISO 8601. When its oldest block began; undefined if the folds of this list keep no times. */
  from: string | undefined;
  /** Newest first. */
  blocks: () => Block[];
};

/** Newest first. */
export type Directory = Section[];

/** The rows of a directory, newest first. */
export type DirectoryRows = {
  /** The number in `~FOLDS`: the last number taken for a change of a fold; 0 before the first. */
  taken: number;
  own: OwnRow[];
  folds: Fold[];
  /** By index of the fold; empty unless `withRare`. */
  rare: Map<number, RareIds>;
};

/** `withRare`: read ids of rare members too, about 1 KB for each fold. */
type Options = { withRare?: boolean };

/**
 * Each further reading means that a fold was made during the reading before, and making one takes seconds.
 */
const maximumReadings = 20;

export const read = async (org: number, kind: ListKind, options: Options = {}): Promise<Directory> =>
  sectionsOf(await readRows(org, kind, options));

/** The rows as they are stored, read again until no fold was made during the reading. */
export const readRows = async (
  org: number,
  kind: ListKind,
  options: Options = {},
): Promise<DirectoryRows> => {
  for (let readings = 0; readings < maximumReadings; readings++) {
    const rows = await readOnce(org, kind, options);
    if (isConsistent(rows)) return rows;
  }
  throw new Error(
    `The directory of ${kind} was folded during each of ${maximumReadings} readings: try again`,
  );
};

/** Whether no fold was made after `~FOLDS` was read. */
export const isConsistent = ({ taken, folds }: DirectoryRows): boolean =>
  folds.every(({ number }) => number <= taken);

const readOnce = async (
  org: number,
  kind: ListKind,
  { withRare = false }: Options,
): Promise<DirectoryRows> => {
  const { pk, sk: foldsKey } = keys.foldNumber(org, kind);
  const wireRows = await table.queryWire({ pk, descending: true, from: withRare ? undefined : foldPrefix });
  const rows: DirectoryRows = { taken: 0, own: [], folds: [], rare: new Map() };
  const numbers = new Map<number, number>();
  for (const row of wireRows) {
    const name = row.sk?.S ?? "";
    if (name === foldsKey) rows.taken = Number(row.number?.N);
    else if (name.startsWith(foldPrefix)) {
      const fold = foldOf(row);
      rows.folds.push(fold);
      numbers.set(fold.index, fold.number);
    } else if (name.startsWith(rarePrefix)) {
      const index = Number(name.slice(rarePrefix.length));
      // Ids that belong to another change of the fold may be out of date.
      if (numbers.get(index) === Number(row.number?.N)) rows.rare.set(index, rareIdsOf(row));
    } else rows.own.push(ownRow(row));
  }
  return rows;
};

const ownRow = (row: table.WireRow): OwnRow => {
  const counts = new Map<string, number>();
  for (const name in row) if (!isReserved(name)) counts.set(name, Number(row[name]?.N));
  const [block, part = 0] = (row.sk?.S ?? "").split(".");
  return {
    block: Number(block),
    part: Number(part),
    from: row.from?.S ?? "",
    counts,
    life: row.life?.S ?? "",
    writes: Number(row.writes?.N ?? 0),
  };
};

/** JSON is compressed, because each page reads all folds of its list. */
export const pack = (value: unknown): Uint8Array => deflateRawSync(JSON.stringify(value));

export const unpack = (bytes: Uint8Array) => JSON.parse(inflateRawSync(bytes).toString());

const foldOf = (row: table.WireRow): Fold => ({
  index: Number(row.sk?.S?.slice(foldPrefix.length)),
  number: Number(row.number?.N),
  ...(row.fold?.B && unpack(row.fold.B)),
});

/** The attributes of a fold's row besides its key. */
export const foldAttributes = ({ index: _, number, ...fold }: Fold) => ({
  number,
  fold: pack(fold),
});

const rareIdsOf = (row: table.WireRow): RareIds =>
  new Map(
    Object.entries(
      (row.ids?.B === undefined ? {} : unpack(row.ids.B)) as Record<string, Record<string, number[]>>,
    ).map(([block, byGroup]) => [Number(block), new Map(Object.entries(byGroup))]),
  );

/** The attributes of the row with the rare members of a fold, besides its key. */
export const rareAttributes = (number: number, rare: RareIds) => ({
  number,
  ids: pack(Object.fromEntries([...rare].map(([block, byGroup]) => [block, Object.fromEntries(byGroup)]))),
});

export const sectionsOf = ({ own, folds, rare }: DirectoryRows): Directory => {
  const { unfolded, folded } = assign(own, folds);
  return [
    ...[...Map.groupBy(unfolded, ({ block }) => block)].map(([number, rows]): Section => {
      const block = unfoldedBlock(number, rows);
      return { counts: block.counts, from: block.from, blocks: () => [block] };
    }),
    ...folds.map((fold, place): Section => {
      const rows = folded[place] ?? [];
      return {
        counts: totalsOf(fold, rows),
        from: oldestOf(fold, rows),
        blocks: () => blocksOf(fold, rows, rare.get(fold.index) ?? new Map()),
      };
    }),
  ];
};

/**
 * When the oldest block began. An own row can be older than all blocks of its fold, if its block came late.
 */
const oldestOf = ({ from }: Fold, rows: readonly OwnRow[]): string | undefined => {
  const [[, milliseconds] = []] = from;
  if (milliseconds === undefined) return undefined;
  const first = new Date(milliseconds).toISOString();
  return rows.reduce((oldest, row) => (row.from && row.from < oldest ? row.from : oldest), first);
};

/** All blocks one by one, newest first. */
export const blocksIn = (directory: Directory): Block[] => directory.flatMap((section) => section.blocks());

/**
 * A block as it is stored. `own`: its own row, the first damaged one if it has several, or else that of part
 * 0. `others`: what its fold and its other own rows say, without what is in the own row too.
 */
export type StoredBlock = {
  part: number;
  own: Item | undefined;
  others: Block | undefined;
  block: Block | undefined;
};

/** For audits. Own rows are read before the fold, so a fold made in between shows in the fold only. */
export const readStored = async (org: number, kind: ListKind, block: number): Promise<StoredBlock> => {
  const { pk, sk } = keys.directory(org, kind, block);
  const stored = await table.queryWire({ pk, from: sk, to: `${sk}.~`, descending: true });
  const { folds, rare } = await readRows(org, kind, { withRare: true });
  const fold = folds.findLast(({ last }) => block <= last);
  const find = (own: readonly OwnRow[]): Block | undefined => {
    if (fold !== undefined)
      return blocksOf(fold, own, rare.get(fold.index) ?? new Map()).find((each) => each.block === block);
    return own.length === 0 ? undefined : unfoldedBlock(block, own);
  };
  const rows = stored.map(ownRow);
  const { part } = rows.find((row) => !isSound(row)) ?? { part: 0 };
  const place = rows.findIndex((row) => row.part === part);
  const isElsewhere = rows.some((row) => row.part !== part) || (fold && foldedBlocks(fold).has(block));
  const emptied = rows.map((row) => (row.part === part ? { ...row, counts: new Map(), from: "" } : row));
  return {
    part,
    own: stored[place] && table.fromWire(stored[place]),
    others: isElsewhere ? find(emptied) : undefined,
    block: find(rows),
  };
};
