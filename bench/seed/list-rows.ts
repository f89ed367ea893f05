/**
 * The rows of a list as the service leaves them: members, tally, head and counter. Nothing else in the
 * benchmark knows how the list engine (shared/lists) lays out a list.
 */

import { keys, type ListKind } from "../../shared/aws/table/keys.ts";
import { blockOf, blockSize, firstIdOf, type Reserved } from "../../shared/lists/blocks.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { org, type Row } from "./shape.ts";

/** Blocks of a seeded list with this many members, whose ids are consecutive from 1. */
export const blockCount = (members: number): number => Math.ceil(members / blockSize);

/** Builds one list of the seeded organization. The rows of its members come first, `remainingRows` last. */
export const buildList = (kind: ListKind) => {
  const blocks = new Map<number, { from: string; counts: Map<string, number> }>();
  let head: { block: number; from: string; at: string; id: number } | undefined;
  return {
    /** Reserves the next id; ids are consecutive from 1. */
    reserve: (createdAt: string): Reserved => {
      const id = (head?.id ?? 0) + 1;
      const block = blockOf(id);
      head =
        head?.block === block
          ? { ...head, id, at: createdAt }
          : { block, id, from: createdAt, at: createdAt };
      return { id, createdAt, block, blockFrom: head.from };
    },

    /** The row of a member that is inserted; its group keys are counted. */
    memberRow: ({ write, block, moves, blockFrom = "" }: MemberWrite): Row => {
      if (!("put" in write)) throw new Error("A seeded member must be an insert");
      const entry = blocks.get(block) ?? { from: blockFrom, counts: new Map<string, number>() };
      blocks.set(block, entry);
      for (const { groupKey } of moves) entry.counts.set(groupKey, (entry.counts.get(groupKey) ?? 0) + 1);
      return write.put as Row;
    },

    /** Tally, head and counter, as the end of a scan leaves them. */
    remainingRows: function* (): Generator<Row> {
      for (const [block, { from, counts }] of blocks) {
        const row = { from: Date.parse(from), writes: 1, ...Object.fromEntries(counts) };
        yield { ...keys.tally(org, kind, block), ...row };
      }
      if (head === undefined) return;
      const { block, from, at, id } = head;
      yield {
        ...keys.listHead(org, kind),
        block,
        next: id + 1,
        left: firstIdOf(block + 1) - id - 1,
        at,
        from,
        blocks: blocks.size,
      };
      yield { ...keys.counter(kind), value: block + 1 };
    },
  };
};
