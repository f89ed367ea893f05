/**
 * Writes of members together with the counters that they move. One transaction changes a member and its
 * block's counters, if the member still has the group key that was read. So counters stay exact, however many
 * writers there are.
 */
import {
  absent,
  allOf,
  type Change,
  type Condition,
  condition,
  type Item,
  type Write,
} from "../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../aws/table/keys.ts";
import { blockOf, type Reserved } from "./blocks.ts";

/** A write of one member and the counters that it moves. `transactionOf` makes one transaction of several. */
export type MemberWrite = {
  write: Write;
  block: number;
  moves: { groupKey: string; by: number }[];
  /** Of inserts only: when the block began, ISO 8601. */
  blockFrom?: string;
};

/** Inserts a member with a reserved id. */
export const insertion = (key: Key, reserved: Reserved, groupKey: string, item: Item): MemberWrite => ({
  write: {
    put: { ...item, ...key, id: reserved.id, createdAt: reserved.createdAt, group: groupKey },
    if: absent,
  },
  block: reserved.block,
  moves: [{ groupKey, by: 1 }],
  blockFrom: reserved.blockFrom,
});

/** Changes a member and moves it to the group key `to`. The condition fails unless its group key is `from`. */
export const changing = (
  key: Key,
  id: number,
  { from, to, if: given, ...change }: Change & { from: string; to: string },
): MemberWrite => ({
  write: {
    update: key,
    ...change,
    ...(to !== from && { set: { ...change.set, group: to } }),
    if: allOf(hasGroupKey(from), given),
  },
  block: blockOf(id),
  moves:
    to === from
      ? []
      : [
          { groupKey: from, by: -1 },
          { groupKey: to, by: 1 },
        ],
});

/** Deletes a member. The condition fails unless its group key is `from`. */
export const deletion = (key: Key, id: number, from: string, given?: Condition): MemberWrite => ({
  write: { delete: key, if: allOf(hasGroupKey(from), given) },
  block: blockOf(id),
  moves: [{ groupKey: from, by: -1 }],
});

const hasGroupKey = (groupKey: string): Condition =>
  condition("#group = :groupKeyBefore", { groupKeyBefore: groupKey });

/**
 * The writes of a transaction: the writes of the members in their order, then one update of each tally
 * row whose counters move. A transaction takes 100 writes in all.
 */
export const transactionOf = (org: number, kind: ListKind, memberWrites: readonly MemberWrite[]): Write[] => {
  const byBlock = Map.groupBy(memberWrites, ({ block }) => block);
  const counterWrites = [...byBlock].flatMap(([block, ofBlock]): Write[] => {
    const net = new Map<string, number>();
    for (const { groupKey, by } of ofBlock.flatMap(({ moves }) => moves)) {
      net.set(groupKey, (net.get(groupKey) ?? 0) + by);
    }
    if (net.size === 0) return [];
    const [from] = ofBlock.flatMap(({ blockFrom }) => (blockFrom ? [Date.parse(blockFrom)] : []));
    const add = { ...Object.fromEntries(net), writes: 1 };
    return [{ update: keys.tally(org, kind, block), add, setOnce: { from } }];
  });
  return [...memberWrites.map(({ write }) => write), ...counterWrites];
};
