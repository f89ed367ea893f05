/** Keeps the directories of long lists small (directory.ts). Not for lists whose pages have a time boundary. */
import { setTimeout } from "node:timers/promises";
import { absent, condition, type Item, type Write } from "./condition.ts";
import {
  added,
  type BlockRow,
  blocksFrom,
  type Counts,
  divide,
  merged,
  type Rollup,
  readRows,
  rollupOf,
} from "./directory.ts";
import { keys, type ListKind, rollupPrefix } from "./keys.ts";
import { parts } from "./parts.ts";
import * as table from "./table.ts";

export const blocksPerRollup = 64;

/** Of the text of a rollup: a row takes 400 KB, and every change of it is paid by its size. */
const maximumCharacters = 100_000;

/** Rows of blocks that a transaction deletes at most, beside the rollup and the count of changes. */
const rowsPerChange = 90;

/** Between two changes there is time for a whole query. */
const pauseMilliseconds = 100;

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

/** What a rollup's row says of these blocks. */
export const rolledUp = (
  rows: readonly { block: number; counts: Counts }[],
): Pick<Rollup, "sums" | "blocks"> => ({
  sums: textOf(added(rows.map((row) => row.counts))),
  blocks: rows.map(({ block, counts }) => `${block}:${textOf(counts)}`).join(";"),
});

/** As directory.ts reads it; the same counts give the same text. */
const textOf = (counts: Counts): string =>
  [...counts]
    .filter(([, count]) => count !== 0)
    .map(([facet, count]) => `${facet}=${count}`)
    .sort()
    .join(",");

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
