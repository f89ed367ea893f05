/**
 * Plans a page: the blocks, the members of each, and how each block is read. A pure function of the
 * tally. read-members.ts carries the plan out.
 */
import { blockSize, firstIdOf } from "./blocks.ts";
import type { Block, Counts, Tally } from "./tally.ts";

export type PageQuery = {
  /** Whether members with this group key are wanted. */
  matching: (groupKey: string) => boolean;
  limit: number;
  offset: number;
  /** ISO 8601. Members with an earlier `createdAt` are not wanted. */
  since?: string | undefined;
};

/** Newest first, `skip` of the matching members that are read come before the page, and `taken` are on it. */
type OfBlock = {
  block: number;
  /** Group keys of the matching members of a block; undefined: all members match. */
  groupKeys: readonly string[] | undefined;
  skip: number;
  taken: number;
};

/**
 * Ids `fromId` to `toId`, read from the nearer end of the block. `skip` counts in the direction of reading. If
 * k matching members lie beyond the page, the range leaves out k ids at the far end.
 */
export type RangeRead = OfBlock & { way: "range"; fromId: number; toId: number; descending: boolean };

/**
 * The block that the time boundary may divide. Only its members' own times tell which of them are visible.
 * `until` (milliseconds since 1970): no member is younger.
 */
export type BoundaryRead = OfBlock & { way: "boundary"; since: string; until: number };

/** How members of a page are read. */
export type Read = RangeRead | BoundaryRead;

type Plan = {
  /** How many members match, without those of the block at the time boundary. */
  total: number;
  /** In the order of the page. A `boundary` comes last. */
  reads: Read[];
  /** Group keys that members on the page can have. */
  groupKeys: ReadonlySet<string>;
};

export const planPage = (tally: Tally, query: PageQuery): Plan => {
  const { matching, limit, offset, since } = query;
  const { visible, boundary } = since === undefined ? { visible: tally } : splitAt(tally, since);
  const reads: Read[] = [];
  const groupKeys = new Set<string>();
  let total = 0;
  let skip = offset;
  let needed = limit;

  const wantedOf = ({ counts }: Block): readonly string[] | undefined => {
    const wanted = [...counts.keys()].filter(matching);
    for (const groupKey of wanted) groupKeys.add(groupKey);
    return wanted.length === counts.size ? undefined : wanted;
  };

  for (const block of visible) {
    const count = countOf(block.counts, matching);
    const taken = Math.min(needed, Math.max(0, count - skip));
    if (taken > 0) reads.push(readOf(block, wantedOf(block), { count, skip, taken }));
    total += count;
    skip = Math.max(0, skip - count);
    needed -= taken;
  }

  if (boundary !== undefined && since !== undefined && countOf(boundary.counts, matching) > 0) {
    const { block } = boundary;
    const until = visible.at(-1)?.from ?? Number.POSITIVE_INFINITY;
    reads.push({ way: "boundary", block, groupKeys: wantedOf(boundary), since, until, skip, taken: needed });
  }
  return { total, reads, groupKeys };
};

/**
 * A page of the members of each kind after the other, newest first in each. With `since` there can be one kind only.
 */
export const planPages = (
  tally: Tally,
  kinds: readonly PageQuery["matching"][],
  query: Omit<PageQuery, "matching">,
): Plan => {
  const all = { total: 0, reads: [] as Read[], groupKeys: new Set<string>() };
  let { limit, offset } = query;
  for (const matching of kinds) {
    const plan = planPage(tally, { ...query, matching, limit, offset });
    all.total += plan.total;
    all.reads.push(...plan.reads);
    for (const groupKey of plan.groupKeys) all.groupKeys.add(groupKey);
    limit -= plan.reads.reduce((sum, { taken }) => sum + taken, 0);
    offset = Math.max(0, offset - plan.total);
  }
  return all;
};

/** How many members have a matching group key. */
export const countOf = (counts: Counts, matching: (groupKey: string) => boolean): number => {
  let sum = 0;
  for (const [groupKey, count] of counts) if (matching(groupKey)) sum += count;
  return sum;
};

/** How a block is read that has `count` matching members. */
const readOf = (
  { block }: Block,
  groupKeys: readonly string[] | undefined,
  { count, skip, taken }: { count: number; skip: number; taken: number },
): Read => {
  const whole = wholeBlock({ block, groupKeys, skip, taken });
  const after = count - skip - taken;
  if (count === blockSize) {
    // Every id of the block belongs to a matching member, so the places of the page are known.
    return { ...whole, fromId: whole.fromId + after, toId: whole.toId - skip, skip: 0 };
  }
  return after >= skip
    ? { ...whole, fromId: whole.fromId + after }
    : { ...whole, toId: whole.toId - skip, descending: false, skip: after };
};

/** The range of all ids of a block. */
export const wholeBlock = ({ block, groupKeys, skip, taken }: OfBlock): RangeRead => {
  const ids = { fromId: firstIdOf(block), toId: firstIdOf(block + 1) - 1 };
  return { way: "range", block, groupKeys, ...ids, descending: true, skip, taken };
};

/** The blocks that are wholly visible, and the one that the boundary may divide. Older blocks are not visible. */
const splitAt = (tally: Tally, since: string): { visible: Tally; boundary?: Block | undefined } => {
  const place = tally.findIndex(({ from }) => from < Date.parse(since));
  return place < 0 ? { visible: tally } : { visible: tally.slice(0, place), boundary: tally[place] };
};
