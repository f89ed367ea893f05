/** Keeps the directories of long lists small, and marks where members are (directory.ts). */
import { setTimeout } from "node:timers/promises";
import { blockSize } from "./blocks.ts";
import { absent, type Condition, condition, type Item, type Write } from "./condition.ts";
import { hasOneOf } from "./counted-list.ts";
import {
  type BlockRow,
  blocksOf,
  type Counts,
  type DirectoryRow,
  divide,
  merged,
  type Rollup,
  type RollupTexts,
  type Rows,
  readRows,
  rollupOfBlock,
  textsOf,
} from "./directory.ts";
import { keys, type ListKind } from "./keys.ts";
import { type Marks, markStep, marksOf } from "./marks.ts";
import { parts } from "./parts.ts";
import * as table from "./table.ts";

/** Scans are few, deliveries go with their channels. */
export const rolledUpKinds: readonly ListKind[] = ["EMAIL", "FINDING", "ACTIVITY"];

export const blocksPerRollup = 64;

/** Of a rollup: a row takes 400 KB, and every change of it is paid by its size. A block's counters take 15 KB at most. */
const maximumCharacters = 100_000;

/** Where nearly every id of a block has a facet, a page of it reads hardly more than it shows. */
const maximumMarked = blockSize - 64;

/** Marks that a rollup holds of a block at most, the rarest facets first. */
const marksPerBlock = 32;

/** Blocks that are read at once for marks. */
const readAtOnce = 16;

/** Rows of blocks that a transaction deletes at most, beside what else is in it. */
const rowsPerChange = 90;

/** Fewer rows of full blocks stay as they are. */
export const blocksWorthRollup = 2;

/** Rows that blocks have got since they were rolled up are worth a change of their rollup when they are so many. */
const rowsWorthChange = (rollup: Rollup): number =>
  Math.max(2, Math.min(8 + rollup.facets.length / 2_000, blocksOf(rollup).size / 2));

/** No change is begun later: this is a last thing in functions that have little time left. */
const maximumMilliseconds = 8_000;

/** Each was overtaken by a write to one of its rows: those are read again, and it is tried once more. */
const maximumRefusals = 5;

/** From when a change is said to begin: readers wait five seconds for its end and no longer (directory.ts). */
const maximumBeginMilliseconds = 1_000;
const maximumChangeMilliseconds = 3_000;

/** Counters of `rows` move into a rollup, which then is about `blocks`. */
type Change = {
  /** What it was before, if it is not new. */
  was: Rollup | undefined;
  blocks: readonly DirectoryRow[];
  rows: readonly BlockRow[];
};

/**
 * Rolls up the rows of blocks, up to 64 into one: those of full blocks, and those that rolled up blocks have got since where they
 * are many. Costs two write units for each row of 1 KB, as much for each KB of the rollup and of its marks, also of what they were
 * before, and five; and the read units of those of its blocks whose facets have no marks yet. Eight seconds since `startedAt` make
 * it stop, or that somebody was faster five times, and the next call goes on.
 */
export const rollUp = async (org: number, kind: ListKind, startedAt = Date.now()): Promise<void> => {
  const isLate = (): boolean => Date.now() - startedAt > maximumMilliseconds;
  const known: KnownMarks = new Map();
  let begun: number | undefined;
  for (let refusals = 0; refusals < maximumRefusals && !isLate(); ) {
    const rows = await readRows(org, kind, { withMarks: true });
    const change = nextChange(kind, rows);
    if (change === undefined) return;
    // Who rolls up as well may have deleted rows that were made again.
    if (rows.begun !== begun) known.clear();
    const blocks = await withMarks(org, kind, change.blocks, rows.blocks, known);
    if (isLate()) return;
    begun = Math.max(rows.begun ?? 0, rows.ended ?? 0) + 1;
    if (await make(org, kind, begun, { ...change, ...textsOf(kind, blocks) }, rows.begun)) known.clear();
    else refusals++;
    // Readers need time for a whole query between two changes.
    await setTimeout(100 + 3 * Math.min(rows.milliseconds, 300));
  }
};

const nextChange = (kind: ListKind, { blocks, rollups }: Rows): Change | undefined => {
  const { unrolled, changed } = divide(blocks, rollups);
  // The newest block is still being written to.
  const full = unrolled.slice(1).filter(isSound).reverse();
  if (full.length >= blocksWorthRollup) return additionTo(kind, rollups[0], full);
  for (const [index, rollup] of rollups.entries()) {
    const change = changeOf(kind, rollup, changed[index] ?? []);
    if (change !== undefined) return change;
  }
  return undefined;
};

/** A damaged counter stays where the check finds it. */
const isSound = ({ counts }: BlockRow): boolean => [...counts.values()].every(Number.isSafeInteger);

/** The rows, oldest first, into the newest rollup while there is room in it, otherwise into a new one. */
const additionTo = (kind: ListKind, newest: Rollup | undefined, full: readonly BlockRow[]): Change => {
  const size = newest === undefined ? 0 : blocksOf(newest).size;
  const length = newest?.facets.length ?? 0;
  if (size >= blocksPerRollup || length >= maximumCharacters) return additionTo(kind, undefined, full);
  const rows: BlockRow[] = [];
  let characters = length;
  for (const row of full.slice(0, blocksPerRollup - size)) {
    if (characters >= maximumCharacters) break;
    characters += textsOf(kind, [row]).facets.length;
    rows.push(row);
  }
  return { was: newest, blocks: [...rows, ...(newest === undefined ? [] : merged(newest, []))], rows };
};

const changeOf = (kind: ListKind, rollup: Rollup, changed: readonly BlockRow[]): Change | undefined => {
  const rows = changed.filter(isSound).slice(0, rowsPerChange);
  if (rows.length === 0 || rows.length < rowsWorthChange(rollup)) return undefined;
  const blocks = merged(rollup, rows);
  if (textsOf(kind, blocks).facets.length > 2 * maximumCharacters) return undefined;
  return { was: rollup, blocks, rows };
};

/** Marks that were read for a change, and the number of writes of the block's own row then: while it is the same they hold. */
type KnownMarks = Map<number, { writes: number | undefined; marks: Marks }>;

/**
 * The blocks with all marks. Members are read after the counters, so either the rows of these are as they were when the change is
 * made, or the block has a new row, which says what was moved.
 */
const withMarks = async (
  org: number,
  kind: ListKind,
  blocks: readonly DirectoryRow[],
  ownRows: readonly BlockRow[],
  known: KnownMarks,
): Promise<DirectoryRow[]> => {
  const writesOf = new Map(ownRows.map(({ block, writes }) => [block, writes]));
  const found: DirectoryRow[] = [];
  const mark = async (row: DirectoryRow): Promise<DirectoryRow> => {
    const writes = writesOf.get(row.block);
    const before = known.get(row.block);
    const marks = before?.writes === writes ? before?.marks : undefined;
    if (marks !== undefined) return { ...row, marks };
    const read = await marksIn(org, kind, row);
    known.set(row.block, { writes, marks: read });
    return { ...row, marks: read };
  };
  for (const part of parts(blocks, readAtOnce)) found.push(...(await Promise.all(part.map(mark))));
  return found;
};

const marksIn = async (
  org: number,
  kind: ListKind,
  { block, counts, marks }: DirectoryRow,
): Promise<Marks> => {
  const facets = markedFacets(counts);
  if (facets.every((facet) => marks.has(facet)))
    return new Map(facets.map((facet) => [facet, marks.get(facet) ?? ""]));
  const rows = await table.queryWire({
    pk: keys.member(org, kind, block, 0).pk,
    where: hasOneOf(facets),
    project: ["id", "facet"],
  });
  const found = new Map<string, number[]>(facets.map((facet) => [facet, []]));
  for (const { id, facet } of rows) found.get(facet?.S ?? "")?.push(Number(id?.N));
  return new Map([...found].map(([facet, ids]) => [facet, marksOf(block, ids)]));
};

/** Facets of a block that a rollup marks. */
export const markedFacets = (counts: Counts): string[] => {
  let left = marksPerBlock;
  const wanted = [...counts].filter(([, count]) => count > 0 && count <= maximumMarked);
  return wanted
    .sort(([, one], [, other]) => one - other)
    .filter(([, count]) => {
      left -= Math.ceil(count / markStep(count));
      return left >= 0;
    })
    .map(([facet]) => facet);
};

/** Makes a change, and says so before and after. False when somebody else has begun one, or changed a row. */
const make = async (
  org: number,
  kind: ListKind,
  change: number,
  { was, rows, facets, marks, from }: Change & RollupTexts,
  begun: number | undefined,
): Promise<boolean> => {
  const isMine = condition("#change = :change", { change });
  const last = Math.max(was?.last ?? 0, ...rows.map(({ block }) => block));
  const isReplaced = was !== undefined && was.last !== last;
  const beganAt = Date.now();
  const at = new Date(beganAt).toISOString();
  const begin: Write = { update: keys.rollupsBegun(org, kind), set: { change, at }, if: isChange(begun) };
  if (!(await isWritten([begin]))) return false;
  const inTime = Date.now() - beganAt < maximumBeginMilliseconds;
  const writes: Write[] = [
    { check: keys.rollupsBegun(org, kind), if: isMine },
    {
      put: { ...keys.rollup(org, kind, last), change, facets, from },
      if: isChange(isReplaced ? undefined : was?.change),
    },
    { put: { ...keys.marks(org, kind, last), change, marks } },
    ...rows.map(
      ({ block, writes }): Write => ({ delete: keys.directory(org, kind, block), if: isAsRead(writes) }),
    ),
  ];
  if (isReplaced) {
    writes.push(
      { delete: keys.rollup(org, kind, was.last), if: isChange(was.change) },
      { delete: keys.marks(org, kind, was.last) },
    );
  }
  const isMade =
    inTime && (await isWritten(writes, { signal: AbortSignal.timeout(maximumChangeMilliseconds) }));
  // Not when it is unknown whether it was made: readers wait then until it cannot be any more.
  await end(org, kind, change);
  return isMade;
};

/** A transaction, also of a single write: it knows its own when a reply was lost. */
const isWritten = async (
  writes: readonly Write[],
  options: { signal?: AbortSignal } = {},
): Promise<boolean> => {
  try {
    await table.transact(writes, options);
    return true;
  } catch (error) {
    if (error instanceof table.TransactionRefused) return false;
    throw error;
  }
};

/** A later change may have ended already. */
const end = async (org: number, kind: ListKind, change: number): Promise<void> => {
  try {
    await table.update(keys.rollupsEnded(org, kind), {
      set: { change },
      if: condition("attribute_not_exists(#change) OR #change < :change", { change }),
    });
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};

/** Rows of before there were rollups have no number of writes. */
const isAsRead = (writes: number): Condition =>
  writes === 0
    ? condition("attribute_exists(#pk) AND attribute_not_exists(#writes)")
    : condition("#writes = :writes", { writes });

const isChange = (change: number | undefined): Condition =>
  change === undefined ? absent : condition("#change = :was", { was: change });

/** A block's own row, and what a rollup says of it. */
export type StoredBlock = {
  own: Item | undefined;
  rolledUp: Pick<DirectoryRow, "counts" | "marks" | "from"> | undefined;
};

/** A block as it is stored. One of both may be older than a change that moved counters from one to the other. */
export const storedBlock = async (org: number, kind: ListKind, block: number): Promise<StoredBlock> => {
  const [own, rollup] = await Promise.all([
    table.get(keys.directory(org, kind, block)),
    rollupOfBlock(org, kind, block),
  ]);
  return { own, rolledUp: rollup && blocksOf(rollup).get(block) };
};
