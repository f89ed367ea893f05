/**
 * The directory of a counted list: a row for each block that counts its members by group key, and the notes
 * about rare members (notes.ts). All rows are in one partition, and one query reads them.
 */
import { keys, type ListKind, notePrefix, padded } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { isReserved } from "./group-key.ts";

/** Number of members by group key. May be 0. */
export type Counts = ReadonlyMap<string, number>;

/** What the directory says of a block. */
export type Block = {
  block: number;
  /** Milliseconds since 1970: no member of this block is older, and no member of an earlier block is younger. */
  from: number;
  /** How often members of the block have been written. */
  writes: number;
  counts: Counts;
  /** Undefined if there is none, or if it was not read. */
  note?: Note | undefined;
};

/**
 * The places of members by group key, newest first, as they were after this many writes or later. A member's
 * place is its id less the first id of its block.
 */
export type Note = { writes: number; places: Record<string, number[]> };

/** Notes of several blocks, by block, which are stored as JSON in one row. */
export type Notes = Record<number, Note>;

/** Newest block first. */
export type Directory = readonly Block[];

export const read = async (
  org: number,
  kind: ListKind,
  { withNotes = false }: { withNotes?: boolean } = {},
): Promise<Directory> => {
  const { pk } = keys.directory(org, kind, 0);
  const rows = await table.queryWire({ pk, descending: true, from: withNotes ? undefined : padded(0) });
  const blocks: Block[] = [];
  const notes: Notes = {};
  for (const row of rows) {
    if (row.sk?.S?.startsWith(notePrefix)) Object.assign(notes, JSON.parse(row.notes?.S ?? "{}"));
    else blocks.push(blockIn(row));
  }
  for (const block of blocks) block.note = notes[block.block];
  return blocks;
};

/** The first of the rows from `block` on, ascending, without their notes. */
export const readFrom = async (
  org: number,
  kind: ListKind,
  block: number,
  limit: number,
): Promise<Block[]> => {
  const { pk, sk } = keys.directory(org, kind, block);
  return (await table.queryWire({ pk, from: sk, limit })).map(blockIn);
};

/** A row of the directory. Without its `from` the block could have begun at any time. */
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
