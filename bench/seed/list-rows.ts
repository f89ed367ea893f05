/**
 * The rows of a list as the service leaves them: members, directory, head and counter. Nothing else in the
 * benchmark knows how the list engine (shared/lists) lays out a list.
 */

import { keys, type ListKind } from "../../shared/aws/table/keys.ts";
import { blockOf, blockSize, firstIdOf, type Reserved } from "../../shared/lists/blocks.ts";
import type { Notes } from "../../shared/lists/directory.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { notedKinds, rareGroups, rowOfBlock } from "../../shared/lists/notes.ts";
import { org, type Row } from "./shape.ts";

/** Blocks of a seeded list with this many members, whose ids are consecutive from 1. */
export const blockCount = (members: number): number => Math.ceil(members / blockSize);

/** Builds one list of the seeded organization. The rows of its members come first, `remainingRows` last. */
export const buildList = (kind: ListKind) => {
  /** By block: the ids of its members by group key. */
  const blocks = new Map<number, { from: string; members: Map<string, number[]> }>();
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
      const entry = blocks.get(block) ?? { from: blockFrom, members: new Map<string, number[]>() };
      blocks.set(block, entry);
      for (const { groupKey } of moves) {
        const ids = entry.members.get(groupKey);
        if (ids === undefined) entry.members.set(groupKey, [Number(write.put.id)]);
        else ids.push(Number(write.put.id));
      }
      return write.put as Row;
    },

    /** Directory with notes, head and counter, as the end of a scan leaves them. */
    remainingRows: function* (): Generator<Row> {
      const notes = new Map<number, Notes>();
      for (const [block, { from, members }] of blocks) {
        const counts = new Map([...members].map(([groupKey, ids]) => [groupKey, ids.length]));
        const row = { from: Date.parse(from), writes: 1, ...Object.fromEntries(counts) };
        yield { ...keys.directory(org, kind, block), ...row };
        const rare = rareGroups(counts);
        if (rare.length === 0 || block === head?.block || !notedKinds.includes(kind)) continue;
        const placesOf = (groupKey: string) =>
          members
            .get(groupKey)
            ?.toReversed()
            .map((id) => id - firstIdOf(block));
        const places = rare.map((groupKey) => [groupKey, placesOf(groupKey)]);
        const ofRow = notes.get(rowOfBlock(block)) ?? {};
        notes.set(rowOfBlock(block), {
          ...ofRow,
          [block]: { writes: 1, places: Object.fromEntries(places) },
        });
      }
      for (const [row, some] of notes) {
        yield { ...keys.notes(org, kind, row), notes: JSON.stringify(some) };
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
