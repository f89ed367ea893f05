/**
 * Notes: where a group key has few members in a block, a row beside the directory holds their ids. A page of
 * disabled e-mails, one in each of 50 blocks, is then read by 50 ids instead of from 50 blocks.
 *
 * A note is only a hint. A page believes it if as many of the members that it names have the group key as the
 * directory counts (read-members.ts). So notes are written without conditions, at any time.
 */
import { chunk } from "../aws/table/chunk.ts";
import { keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { type Block, type Counts, read } from "./directory.ts";
import { hasOneOf, readBlock } from "./read-members.ts";

/** With more members in each block, a page lies in few blocks, and these are read as ranges. */
const maximumPerGroup = 16;

/** Bounds what a filtered page reads of notes. The rarest groups are noted first. */
const maximumPerBlock = 64;

/** How many blocks are read at the same time. */
const concurrency = 16;

/** Lists that grow with every scan. Scans are few, and deliveries are deleted with their channels. */
export const notedKinds: readonly ListKind[] = ["EMAIL", "FINDING", "ACTIVITY"];

/**
 * Notes the rare members of all blocks that were written to since they were noted, for as long as `mayGoOn`
 * returns true. Costs the read units of these blocks. The newest block is left out, because it still grows.
 */
export const refresh = async (
  org: number,
  kind: ListKind,
  mayGoOn: () => boolean = () => true,
): Promise<void> => {
  const [, ...older] = await read(org, kind, { withNotes: true });
  const outdated = older.filter(
    ({ writes, counts, note }) =>
      writes !== note?.writes && (note !== undefined || rareGroups(counts).length > 0),
  );
  for (const some of chunk(outdated, concurrency)) {
    if (!mayGoOn()) return;
    await Promise.all(some.map((block) => write(org, kind, block)));
  }
};

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

const write = async (org: number, kind: ListKind, { block, writes, counts }: Block): Promise<void> => {
  const key = keys.note(org, kind, block);
  const groupKeys = rareGroups(counts);
  if (groupKeys.length === 0) return table.remove(key);
  const where = hasOneOf(groupKeys);
  const rows = await readBlock(org, kind, block, { where, project: ["id", "group"] });
  const ids = Map.groupBy(rows, ({ group }) => group?.S ?? "");
  await table.put({
    ...key,
    writes,
    ...Object.fromEntries(
      [...ids].map(([groupKey, some]) => [groupKey, new Set(some.map(({ id }) => Number(id?.N)))]),
    ),
  });
};
