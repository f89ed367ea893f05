/**
 * Plans a page: which members of which blocks are on it, and how each block is read. A pure function of the
 * directory. read-members.ts carries the plan out.
 */
import { blockSize, firstIdOf } from "./blocks.ts";
import type { Block, Counts, Directory } from "./directory.ts";

export type PageQuery = {
  /** Whether members with this group key are wanted. */
  matching: (groupKey: string) => boolean;
  limit: number;
  offset: number;
  /** ISO 8601. Members with an earlier `createdAt` are not wanted. */
  since?: string | undefined;
};

/** Group keys of the matching members of a block; undefined: all members match. */
type WantedKeys = readonly string[] | undefined;

/** How members of a page are read. */
export type Read =
  /** The directory names the ids, because all matching members of the block are rare. */
  | { way: "ids"; ids: readonly number[] }
  /**
   * Ids `fromId` to `toId`, read from the nearer end of the block. Of the matching members among them, the
   * first `skip` are not on the page. If k matching members lie beyond the page, the range leaves out k ids at the
   * far end.
   */
  | {
      way: "range";
      block: number;
      groupKeys: WantedKeys;
      fromId: number;
      toId: number;
      descending: boolean;
      skip: number;
      taken: number;
    }
  /**
   * The block that the time boundary may divide. Only its members' own times tell which of them are visible.
   */
  | {
      way: "boundary";
      block: number;
      groupKeys: WantedKeys;
      since: string;
      skip: number;
      taken: number;
    };

export type Plan = {
  /** How many members match, without those of the block at the time boundary. */
  total: number;
  /** In the order of the page. A `boundary` comes last. */
  reads: Read[];
  /** Group keys that members on the page can have. */
  groupKeys: ReadonlySet<string>;
};

export const planPage = (directory: Directory, query: PageQuery): Plan => {
  const { matching, limit, offset, since } = query;
  const { visible, boundary } = since === undefined ? { visible: directory } : splitAt(directory, since);
  const reads: Read[] = [];
  const groupKeys = new Set<string>();
  let total = 0;
  let skip = offset;
  let needed = limit;

  const note = ({ counts }: Block): string[] => {
    const found = [...counts.keys()].filter(matching);
    for (const groupKey of found) groupKeys.add(groupKey);
    return found;
  };

  for (const section of visible) {
    const inSection = countOf(section.counts, matching);
    total += inSection;
    if (needed === 0 || skip >= inSection) {
      skip = Math.max(0, skip - inSection);
      continue;
    }
    for (const block of section.blocks()) {
      const count = countOf(block.counts, matching);
      const taken = Math.min(needed, Math.max(0, count - skip));
      if (taken > 0) reads.push(readOf(block, note(block), { count, skip, taken }));
      skip = Math.max(0, skip - count);
      needed -= taken;
    }
  }

  if (boundary !== undefined && since !== undefined && countOf(boundary.counts, matching) > 0) {
    reads.push({
      way: "boundary",
      block: boundary.block,
      groupKeys: wantedOf(boundary, note(boundary)),
      since,
      skip,
      taken: needed,
    });
  }
  return { total, reads, groupKeys };
};

/** How many members have a matching group key. */
export const countOf = (counts: Counts, matching: (groupKey: string) => boolean): number => {
  let sum = 0;
  for (const [groupKey, count] of counts) if (matching(groupKey)) sum += count;
  return sum;
};

const wantedOf = ({ counts }: Block, matching: readonly string[]): WantedKeys =>
  matching.length === counts.size ? undefined : matching;

/**
 * How a block is read that has `count` matching members. Newest first, `skip` of them come before the page
 * and `taken` are on the page. A block in which several members exist and all match is read as a range even
 * if the ids are known, because a query reads several rows for one read unit.
 */
const readOf = (
  whole: Block,
  matching: readonly string[],
  { count, skip, taken }: { count: number; skip: number; taken: number },
): Read => {
  const { block, rare } = whole;
  const groupKeys = wantedOf(whole, matching);
  const ids = matching.flatMap((groupKey) => rare.get(groupKey) ?? []);
  if (ids.length === count && (count === 1 || groupKeys !== undefined)) {
    return { way: "ids", ids: ids.sort((one, other) => other - one).slice(skip, skip + taken) };
  }
  const oldest = firstIdOf(block);
  const newest = oldest + blockSize - 1;
  const after = count - skip - taken;
  const range = { way: "range", block, groupKeys, taken } as const;
  if (count === blockSize) {
    // Every id of the block belongs to a matching member, so the places of the page are known.
    return { ...range, fromId: oldest + after, toId: newest - skip, descending: true, skip: 0 };
  }
  return after >= skip
    ? { ...range, fromId: oldest + after, toId: newest, descending: true, skip }
    : { ...range, fromId: oldest, toId: newest - skip, descending: false, skip: after };
};

/**
 * The blocks that are wholly visible, and the one that the boundary may divide. Older blocks are not visible.
 */
const splitAt = (directory: Directory, since: string): { visible: Directory; boundary?: Block } => {
  const visible: Directory = [];
  for (const section of directory) {
    if (section.from !== undefined && section.from >= since) {
      visible.push(section);
      continue;
    }
    for (const block of section.blocks()) {
      if (block.from === undefined)
        throw new Error("The folds of this list keep no times: its pages have no time boundary");
      if (block.from < since) return { visible, boundary: block };
      visible.push({ counts: block.counts, from: block.from, blocks: () => [block] });
    }
  }
  return { visible };
};
