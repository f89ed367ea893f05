/**
 * The rows of a list as the service leaves them: members, directory, head and counter. Nothing else in the
 * benchmark knows how the list engine (shared/lists) lays out a list.
 */

import { keys, type ListKind } from "../../shared/aws/table/keys.ts";
import { blockOf, blockSize, firstIdOf, type Reserved } from "../../shared/lists/blocks.ts";
import { foldedKinds, nextChange, timedKinds } from "../../shared/lists/compact.ts";
import { foldAttributes, rareAttributes } from "../../shared/lists/directory.ts";
import { type Fold, foldedBlocks, foldLimits, type OwnRow, withRows } from "../../shared/lists/fold.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { rareGroups } from "../../shared/lists/rare.ts";
import { org, type Row } from "./shape.ts";

/** Blocks of a seeded list with this many members, whose ids are consecutive from 1. */
export const blockCount = (members: number): number => Math.ceil(members / blockSize);

/** How many blocks hold these members. */
export const blocksHolding = (members: readonly { id: number }[]): number =>
  new Set(members.map(({ id }) => blockOf(id))).size;

/** Values of `pk` under which the members of a seeded list lie, the youngest members first. */
export const partitionsOf = (kind: ListKind, members: number): string[] =>
  Array.from({ length: blockCount(members) }, (_, block) => keys.member(org, kind, block, 0).pk).reverse();

/** Builds one list of the seeded organization. The rows of its members come first, `remainingRows` last. */
export const buildList = (kind: ListKind) => {
  /** By block: the ids of its members by group key. */
  const blocks = new Map<number, { from: string; members: Map<string, number[]> }>();
  let head: { block: number; from: string; at: string; tag: number; tags: number; id: number } | undefined;
  return {
    /** Reserves the next id; ids are consecutive from 1. */
    reserve: (createdAt: string, tag = 0): Reserved => {
      const id = (head?.id ?? 0) + 1;
      const block = blockOf(id);
      head =
        head?.block === block
          ? { ...head, id, at: createdAt, tag, tags: head.tags + (tag === head.tag ? 0 : 1) }
          : { block, id, from: createdAt, at: createdAt, tag, tags: 1 };
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

    /** Notes a group key that all members of the block have left; the service keeps its counter, at 0. */
    leaveGroupKey: (block: number, groupKey: string): void => {
      const members = blocks.get(block)?.members;
      if (members !== undefined && !members.has(groupKey)) members.set(groupKey, []);
    },

    /** Directory, head and counter, with the directory compacted as the end of a scan compacts it. */
    remainingRows: function* (): Generator<Row> {
      const own = [...blocks].map(
        ([block, { from, members }]): OwnRow => ({
          block,
          part: 0,
          from,
          counts: new Map([...members].map(([groupKey, ids]) => [groupKey, ids.length])),
          life: "seeded00",
          writes: 1,
        }),
      );
      const { number, folds, left } = foldedKinds.includes(kind)
        ? fold(kind, own)
        : { number: 0, folds: [], left: own };
      if (number > 0) yield { ...keys.foldNumber(org, kind), number };
      for (const made of folds) {
        const rare = [...foldedBlocks(made).values()].map(({ block, counts }) => {
          const members = blocks.get(block)?.members;
          const idsOf = (groupKey: string) => (members?.get(groupKey) ?? []).toReversed();
          return [block, new Map(rareGroups(counts).map((groupKey) => [groupKey, idsOf(groupKey)]))] as const;
        });
        yield { ...keys.fold(org, kind, made.index), ...foldAttributes(made) };
        const known = new Map(rare.filter(([, byGroup]) => byGroup.size > 0));
        yield { ...keys.rare(org, kind, made.index), ...rareAttributes(made.number, known) };
      }
      for (const { block, from, counts, life, writes } of left) {
        yield { ...keys.directory(org, kind, block), from, life, writes, ...Object.fromEntries(counts) };
      }
      if (head === undefined) return;
      const { block, from, at, tag, tags, id } = head;
      yield {
        ...keys.listHead(org, kind),
        block,
        next: id + 1,
        left: firstIdOf(block + 1) - id - 1,
        at,
        from,
        tag,
        tags,
      };
      yield { ...keys.counter(kind), value: block + 1 };
    },
  };
};

/** What the service's compaction makes of the rows of a directory. */
const fold = (kind: ListKind, rows: readonly OwnRow[]): { number: number; folds: Fold[]; left: OwnRow[] } => {
  const isTimed = timedKinds.includes(kind);
  let left = rows.toSorted((one, other) => other.block - one.block);
  let folds: Fold[] = [];
  let number = 0;
  for (;;) {
    const change = nextChange({ taken: number, own: left, folds, rare: new Map() }, foldLimits);
    if (change === undefined) return { number, folds, left };
    const { fold: before, taking, own } = change;
    number++;
    const made = withRows(before, { rows: taking, own, number, isTimed, limits: foldLimits });
    folds = [made, ...folds.filter(({ index }) => index !== made.index)].sort(
      (one, other) => other.index - one.index,
    );
    left = left.filter((row) => !taking.includes(row));
  }
};
