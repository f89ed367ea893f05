/**
 * Rare members: if a group key has few members in a block, the row beside the block's fold notes their ids. A
 * page of disabled e-mails, one in each of 50 blocks, is then read by 50 ids instead of from 50 blocks.
 */
import type { ListKind } from "../aws/table/keys.ts";
import type { Block, Counts } from "./fold.ts";
import { hasOneOf, readBlock } from "./read-members.ts";

/** With more members in each block, a page lies in few blocks, and these are read as ranges. */
const maximumPerGroup = 16;

/** Bounds the row: 64 blocks × 64 ids of up to 17 digits are 70 KB. The rarest groups are noted first. */
const maximumPerBlock = 64;

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

/** Ids of the members of a block that have one of these group keys, newest first. */
export type ReadMembers = (
  block: number,
  groupKeys: readonly string[],
) => Promise<{ id: number; groupKey: string }[]>;

/**
 * Ids of the rare members of a block, newest first. Reads the block, for its read units, unless `rare`
 * already has all of them.
 */
export const rareMembers = async (
  { block, counts, rare }: Block,
  readMembers: ReadMembers,
): Promise<Map<string, readonly number[]>> => {
  const groupKeys = rareGroups(counts);
  const known = groupKeys.flatMap((groupKey) => {
    const ids = rare.get(groupKey);
    return ids === undefined ? [] : [[groupKey, ids] as const];
  });
  if (known.length === groupKeys.length) return new Map(known);
  const found = new Map<string, number[]>(groupKeys.map((groupKey) => [groupKey, []]));
  for (const { id, groupKey } of await readMembers(block, groupKeys)) found.get(groupKey)?.push(id);
  return found;
};

export const readMembersOf =
  (org: number, kind: ListKind): ReadMembers =>
  async (block, groupKeys) => {
    const rows = await readBlock(org, kind, block, {
      descending: true,
      where: hasOneOf(groupKeys),
      project: ["id", "group"],
    });
    return rows.map(({ id, group }) => ({ id: Number(id?.N), groupKey: group?.S ?? "" }));
  };
