/** Reads members of a list: those of a plan (plan.ts), those with given ids, or those of a block. */
import { allOf, type Condition, condition } from "../aws/table/condition.ts";
import { keys, type ListKind, padded } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { blockOf, firstIdOf } from "./blocks.ts";
import type { Read } from "./plan.ts";

/** From this many ids close together, one query costs less than a read unit for each id. */
const worthQuery = 8;

/** How many values DynamoDB takes in one `IN`. */
const maximumValues = 100;

type Projection = { project?: readonly string[] | undefined };

/** Members in the order of the page, and how many members of the block at the time boundary are visible. */
export const readPlanned = async (
  org: number,
  kind: ListKind,
  reads: readonly Read[],
  { project, matching }: Projection & { matching: (groupKey: string) => boolean },
): Promise<{ rows: table.WireRow[]; visible: number }> => {
  const ids = reads.flatMap((read) => (read.way === "ids" ? read.ids : []));
  const [byId, ...parts] = await Promise.all([
    readIds(org, kind, ids, { project }),
    ...reads.map((read) => {
      if (read.way === "range") return readRange(org, kind, read, { project });
      if (read.way === "boundary") return readBoundary(org, kind, read, { project });
      return read;
    }),
  ]);
  let visible = 0;
  const rows = parts.flatMap((part) => {
    if (Array.isArray(part)) return part;
    if ("way" in part) return part.ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
    visible = part.visible;
    return part.rows;
  });
  return { rows: rows.filter((row) => matching(groupKeyIn(row))), visible };
};

const groupKeyIn = (row: table.WireRow): string => row.group?.S ?? "";

/** Rows by id. Ids that lie close together are read as a range, the others in batches of 100. */
export const readIds = async (
  org: number,
  kind: ListKind,
  ids: readonly number[],
  { project }: Projection = {},
): Promise<Map<number, table.WireRow>> => {
  const { single, ranges } = rangesOf(ids);
  const rows = await Promise.all([
    table.getManyWire(
      single.map((id) => keys.member(org, kind, blockOf(id), id)),
      { project },
    ),
    ...ranges.map(({ block, fromId, toId }) => readBlock(org, kind, block, { fromId, toId, project })),
  ]);
  return new Map(rows.flat().map((row) => [Number(row.id?.N), row]));
};

/** Rows of a block in the order of ids: all of them, or those from `fromId` to `toId` (inclusive). */
export const readBlock = (
  org: number,
  kind: ListKind,
  block: number,
  options: Projection & {
    fromId?: number | undefined;
    toId?: number | undefined;
    descending?: boolean;
    where?: Condition | undefined;
  } = {},
): Promise<table.WireRow[]> => {
  const { fromId, toId, ...rest } = options;
  return table.queryWire({
    pk: keys.member(org, kind, block, 0).pk,
    from: fromId === undefined ? undefined : padded(fromId),
    to: toId === undefined ? undefined : padded(toId),
    ...rest,
  });
};

/** How many members of a block have one of these group keys (undefined: any) and meet a condition. Sends none of them. */
export const countBlock = async (
  org: number,
  kind: ListKind,
  block: number,
  groupKeys: readonly string[] | undefined,
  where: Condition | undefined,
): Promise<number> => {
  const named = hasOneOf(groupKeys);
  if (groupKeys === undefined || named !== undefined) {
    return table.count({ pk: keys.member(org, kind, block, 0).pk, where: allOf(named, where) });
  }
  const rows = await readBlock(org, kind, block, { where, project: ["group"] });
  return rows.filter(isOneOf(groupKeys)).length;
};

const readRange = async (
  org: number,
  kind: ListKind,
  read: Extract<Read, { way: "range" }>,
  { project }: Projection,
): Promise<table.WireRow[]> => {
  const { block, groupKeys, fromId, toId, descending, skip, taken } = read;
  const where = hasOneOf(groupKeys);
  const rows = await readBlock(org, kind, block, { fromId, toId, descending, where, project });
  const found = rows.filter(isOneOf(groupKeys)).slice(skip, skip + taken);
  // Members of the range have moved since the directory was read. Others of the block take their places. Where every id of
  // the block had a matching member, those that the range left out are before the page.
  const [oldest, newest] = [firstIdOf(block), firstIdOf(block + 1) - 1];
  if (found.length < taken && (fromId > oldest || toId < newest)) {
    const leftOut = descending ? newest - toId : fromId - oldest;
    const whole = { ...read, fromId: oldest, toId: newest, skip: skip + leftOut };
    return readRange(org, kind, whole, { project });
  }
  return descending ? found : found.reverse();
};

const readBoundary = async (
  org: number,
  kind: ListKind,
  { block, groupKeys, since, skip, taken }: Extract<Read, { way: "boundary" }>,
  { project }: Projection,
): Promise<{ rows: table.WireRow[]; visible: number }> => {
  const rows = await readBlock(org, kind, block, {
    descending: true,
    where: allOf(hasOneOf(groupKeys), condition("#createdAt >= :since", { since })),
    project: taken > 0 ? project : ["group"],
  });
  const found = rows.filter(isOneOf(groupKeys));
  return { rows: found.slice(skip, skip + taken), visible: found.length };
};

const isOneOf = (groupKeys: readonly string[] | undefined): ((row: table.WireRow) => boolean) => {
  const wanted = groupKeys && new Set(groupKeys);
  return (row) => wanted?.has(groupKeyIn(row)) ?? true;
};

/**
 * Makes the table leave out members of other groups. Undefined if no group is left out, or if there are too
 * many group keys to name.
 */
export const hasOneOf = (groupKeys: readonly string[] | undefined): Condition | undefined =>
  groupKeys === undefined || groupKeys.length > maximumValues
    ? undefined
    : condition(
        `#group IN (${groupKeys.map((_, index) => `:groupKey${index}`).join(", ")})`,
        Object.fromEntries(groupKeys.map((groupKey, index) => [`groupKey${index}`, groupKey])),
      );

/** Ranges of ids that lie close together in a block, and all other ids one by one. */
const rangesOf = (
  ids: readonly number[],
): { single: number[]; ranges: { block: number; fromId: number; toId: number }[] } => {
  const byBlock = Map.groupBy(new Set(ids), blockOf);
  const single: number[] = [];
  const ranges: { block: number; fromId: number; toId: number }[] = [];
  for (const [block, inBlock] of byBlock) {
    const fromId = Math.min(...inBlock);
    const toId = Math.max(...inBlock);
    // A row has up to about 1 KB, so that four rows cost one read unit.
    if (inBlock.length >= worthQuery && toId - fromId < 4 * inBlock.length)
      ranges.push({ block, fromId, toId });
    else single.push(...inBlock);
  }
  return { single, ranges };
};
