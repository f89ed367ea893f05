/** Compares the head row, from which ids of a list are handed out, with the ids that are in use. */

import { asRead } from "../../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf, drawBlocks, firstIdOf } from "../../lists/blocks.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** As in lists/blocks.ts. */
type Head = { block: number; next: number; left: number; at: string };

type Used = { highestId: number; highestBlock: number; latest: string };

/**
 * Call it after the members were read. Ids are reserved before they are used, so the head row then lies
 * beyond all of them.
 */
export const inspectHead =
  (org: number, kind: ListKind, used: Used): Inspection<Problem> =>
  async () => {
    const key = keys.listHead(org, kind);
    const head = await table.get<Partial<Head>>(key);
    const value = (await table.get<{ value?: number }>(keys.counter(kind)))?.value;
    const blocksInUse = Math.max(used.highestBlock, blockOf(used.highestId)) + 1;
    const isDrawn = (value ?? 0) >= blocksInUse;
    const problem = problemOf(head, { ...used, highestBlock: blocksInUse - 1, drawnBlocks: value ?? 0 });
    if (problem === undefined && isDrawn) return undefined;
    return {
      says: [
        ...(problem === undefined ? [] : [problem]),
        ...(isDrawn ? [] : [`the counter of blocks is ${value ?? "missing"}, should be ${blocksInUse}`]),
      ].join("; "),
      repair: async () => {
        if (!isDrawn) {
          await table.update(keys.counter(kind), { set: { value: blocksInUse }, if: asRead({ value }) });
        }
        if (problem !== undefined) await moveToFreshBlock(key, kind, head, used.latest);
      },
    };
  };

const problemOf = (
  head: Partial<Head> | undefined,
  used: Used & { drawnBlocks: number },
): string | undefined => {
  if (head === undefined) {
    return used.highestBlock < 0 ? undefined : "the row that ids are handed out from is not there";
  }
  const { block = -1, next = 0, left = 0, at = "" } = head;
  if (block >= used.drawnBlocks && used.drawnBlocks > used.highestBlock)
    return `the block in hand, ${block}, was never drawn`;
  if (block < used.highestBlock) return `block ${used.highestBlock} is in use, the one in hand is ${block}`;
  if (next <= used.highestId) return `id ${used.highestId} is in use, the next one is ${next}`;
  if (left < 0 || next + left !== firstIdOf(block + 1)) {
    return `${left} ids are left of block ${block} although the next one is ${next}`;
  }
  return at < used.latest ? "ids are handed out with times before the latest" : undefined;
};

/**
 * The rows do not tell which ids of the current block are reserved, so none of its ids is handed out any
 * more.
 */
const moveToFreshBlock = async (
  key: Key,
  kind: ListKind,
  head: Partial<Head> | undefined,
  latest: string,
): Promise<void> => {
  const block = await drawBlocks(kind, 1);
  const now = new Date().toISOString();
  const at = [now, head?.at ?? "", latest].sort().at(-1);
  const next = firstIdOf(block);
  await table.update(key, {
    set: { block, next, left: firstIdOf(block + 1) - next, at, from: at },
    if: asRead({ block: head?.block, next: head?.next, left: head?.left }),
  });
};
