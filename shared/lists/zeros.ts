/**
 * Counters of the tally that are 0. Every page reads all counters of a block, so work that changes many members
 * removes them.
 */
import type { Logger } from "@aws-lambda-powertools/logger";
import { chunk } from "../aws/table/chunk.ts";
import { condition } from "../aws/table/condition.ts";
import { keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { type Block, read } from "./tally.ts";

/** How many rows of blocks are written at the same time, and how many counters one write removes. */
const concurrency = 25;
const maximumRemoved = 100;

/**
 * Removes counters that are 0, for as long as `mayGoOn` returns true. A failure is only logged, because the next work
 * of this kind does the same.
 */
export const dropZeros = async (
  org: number,
  kinds: readonly ListKind[],
  mayGoOn: () => boolean,
  logger: Logger,
): Promise<void> => {
  for (const kind of kinds) {
    try {
      await dropOf(org, kind, mayGoOn);
    } catch (error) {
      logger.warn("counters that are 0 are removed later", {
        organizationId: org,
        kind,
        error: error as Error,
      });
    }
  }
};

const dropOf = async (org: number, kind: ListKind, mayGoOn: () => boolean): Promise<void> => {
  // The newest block is left as it is, because it still grows.
  const [, ...older] = await read(org, kind);
  const withZeros = older.filter(({ counts }) => [...counts.values()].includes(0));
  for (const some of chunk(withZeros, concurrency)) {
    if (!mayGoOn()) return;
    await Promise.all(some.map((block) => dropOfBlock(org, kind, block)));
  }
};

const dropOfBlock = (org: number, kind: ListKind, { block, writes, counts }: Block) => {
  const zeros = [...counts].filter(([, count]) => count === 0).slice(0, maximumRemoved);
  const remove = zeros.map(([groupKey]) => groupKey);
  // Not written: members of the block have been written since it was read.
  const update = table.update(keys.tally(org, kind, block), {
    remove,
    if: condition("#writes = :writes", { writes }),
  });
  return table.attempt(update);
};
