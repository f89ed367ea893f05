/**
 * Notes: where a group key has few members in a block, a row beside the directory holds their ids, for 64 blocks together. A page of
 * disabled e-mails, one in each of 50 blocks, is then read by 50 ids instead of from 50 blocks.
 *
 * A note is only a hint. A page believes it if as many of the members that it names have the group key as the
 * directory counts (read-members.ts). So notes are written without conditions, at any time.
 */
import type { Logger } from "@aws-lambda-powertools/logger";
import { chunk } from "../aws/table/chunk.ts";
import { condition } from "../aws/table/condition.ts";
import { keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { firstIdOf } from "./blocks.ts";
import { type Block, type Counts, type Note, type Notes, read } from "./directory.ts";
import { hasOneOf, readBlock } from "./read-members.ts";

/** Groups with more members in each block need no note: a page of them lies in few blocks, which are read as ranges. */
const maximumPerGroup = 32;

/** Bounds what a filtered page reads of notes. The rarest groups are noted first. */
const maximumPerBlock = 64;

/** Blocks whose notes share a row, so that a filtered page reads few rows. */
const blocksPerRow = 64;

export const rowOfBlock = (block: number): number => Math.floor(block / blocksPerRow);

/** How many rows of blocks are written at the same time, and how many counters one write removes. */
const concurrency = 25;
const maximumRemoved = 100;

/** The lists that get notes. The others stay short: scans are few, and deliveries are deleted with their channels. */
export const notedKinds: readonly ListKind[] = ["EMAIL", "FINDING", "ACTIVITY"];

/** Counters that are 0 are removed, because every page reads all counters of a block. */
const dropZeros = async (
  org: number,
  kind: ListKind,
  blocks: readonly Block[],
  mayGoOn: () => boolean,
): Promise<void> => {
  const withZeros = blocks.filter(({ counts }) => [...counts.values()].includes(0));
  for (const some of chunk(withZeros, concurrency)) {
    if (!mayGoOn()) return;
    await Promise.all(
      some.map(({ block, writes, counts }) => {
        const zeros = [...counts].filter(([, count]) => count === 0).slice(0, maximumRemoved);
        const remove = zeros.map(([groupKey]) => groupKey);
        // Not written: members of the block have been written since it was read.
        return table.attempt(
          table.update(keys.directory(org, kind, block), {
            remove,
            if: condition("#writes = :writes", { writes }),
          }),
        );
      }),
    );
  }
};

/**
 * Notes the rare members of all blocks that were written to since they were noted, for as long as `mayGoOn`
 * returns true, and removes counters that are 0. Costs the read units of these blocks. The newest block is left out, because it still grows.
 */
export const refresh = async (
  org: number,
  kind: ListKind,
  mayGoOn: () => boolean = () => true,
): Promise<void> => {
  const [, ...older] = await read(org, kind, { withNotes: true });
  await dropZeros(org, kind, older, mayGoOn);
  for (const [row, blocks] of Map.groupBy(older, ({ block }) => rowOfBlock(block))) {
    if (blocks.every(isNoted)) continue;
    if (!mayGoOn()) return;
    const notes: Notes = {};
    await Promise.all(
      blocks.map(async (block) => {
        const note = isNoted(block) ? block.note : await noteOf(org, kind, block);
        if (note !== undefined) notes[block.block] = note;
      }),
    );
    await table.put({ ...keys.notes(org, kind, row), notes: JSON.stringify(notes) });
  }
};

/**
 * Refreshes notes after work on the members has ended. A failure is only logged, because the next work of this kind does the
 * same.
 */
export const renew = async (
  org: number,
  kinds: readonly ListKind[],
  mayGoOn: () => boolean,
  logger: Logger,
): Promise<void> => {
  for (const kind of kinds) {
    try {
      await refresh(org, kind, mayGoOn);
    } catch (error) {
      logger.warn("rare members are noted later", { organizationId: org, kind, error: error as Error });
    }
  }
};

const isNoted = ({ writes, counts, note }: Block): boolean =>
  note === undefined ? rareGroups(counts).length === 0 : note.writes === writes;

/** Group keys whose members are noted, the rarest first. */
export const rareGroups = (counts: Counts): string[] => {
  let left = maximumPerBlock;
  return [...counts]
    .filter(([, count]) => count > 0 && count <= maximumPerGroup)
    .sort(([, one], [, other]) => one - other)
    .filter(([, count]) => {
      left -= count;
      return left >= 0;
    })
    .map(([groupKey]) => groupKey);
};

const noteOf = async (
  org: number,
  kind: ListKind,
  { block, writes, counts }: Block,
): Promise<Note | undefined> => {
  const groupKeys = rareGroups(counts);
  if (groupKeys.length === 0) return undefined;
  const where = hasOneOf(groupKeys);
  const rows = await readBlock(org, kind, block, { descending: true, where, project: ["id", "group"] });
  const byGroup = Map.groupBy(rows, ({ group }) => group?.S ?? "");
  const placeOf = ({ id }: table.WireRow) => Number(id?.N) - firstIdOf(block);
  return {
    writes,
    places: Object.fromEntries([...byGroup].map(([groupKey, some]) => [groupKey, some.map(placeOf)])),
  };
};
