/** Reads members of a list: those of a plan (plan.ts), those with given ids, or those of a block. */

import { maxBatchKeys } from "../aws/table/chunk.ts";
import { allOf, type Condition, condition } from "../aws/table/condition.ts";
import { type Key, keys, type ListKind, padded } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { blockOf } from "./blocks.ts";
import { type BoundaryRead, type RangeRead, type Read, wholeBlock } from "./plan.ts";

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
  let visible = 0;
  const ranges = Map.groupBy(
    reads.filter((read) => read.way === "range"),
    ({ block }) => block,
  );
  const sent = new Map([...ranges].map(([block, some]) => [block, sendRanges(org, kind, some, { project })]));
  const rows = await Promise.all(
    reads.map(async (read) => {
      if (read.way === "range") return readRange(org, kind, read, { project }, await sent.get(read.block));
      const boundary = await readBoundary(org, kind, read, { project });
      visible = boundary.visible;
      return boundary.rows;
    }),
  );
  return { rows: rows.flat().filter((row) => matching(groupKeyIn(row))), visible };
};

const groupKeyIn = (row: table.WireRow): string => row.group?.S ?? "";

/**
 * Rows by id, and others. One query reads a range of ids, a dozen rows for a read unit, in place of several
 * requests. It must need at least every other id of the range.
 */
export const readIds = async (
  org: number,
  kind: ListKind,
  ids: readonly number[],
  options: Projection & { consistent?: boolean } = {},
): Promise<Map<number, table.WireRow>> => {
  const single: Key[] = [];
  const ranges: Promise<table.WireRow[]>[] = [];
  for (const [block, some] of Map.groupBy(new Set(ids), blockOf)) {
    const [fromId, toId] = [Math.min(...some), Math.max(...some)];
    if (some.length > maxBatchKeys && 2 * some.length > toId - fromId)
      ranges.push(readBlock(org, kind, block, { ...options, fromId, toId }));
    else single.push(...some.map((id) => keys.member(org, kind, block, id)));
  }
  const rows = await Promise.all([table.getManyWire(single, options), ...ranges]);
  return new Map(rows.flat().map((row) => [Number(row.id?.N), row]));
};

export type BlockRead = Projection & {
  /** Default true. */
  consistent?: boolean | undefined;
  fromId?: number | undefined;
  toId?: number | undefined;
  descending?: boolean;
  limit?: number;
  where?: Condition | undefined;
};

/**
 * Rows of a block in the order of ids: all of them, those from `fromId` to `toId` (inclusive), or the first `limit`.
 */
export const readBlock = (
  org: number,
  kind: ListKind,
  block: number,
  options: BlockRead = {},
): Promise<table.WireRow[]> => {
  const { fromId, toId, ...rest } = options;
  return table.queryWire({
    pk: keys.member(org, kind, block, 0).pk,
    from: fromId === undefined ? undefined : padded(fromId),
    to: toId === undefined ? undefined : padded(toId),
    ...rest,
  });
};

/**
 * How many members of a block have one of these group keys (undefined: any) and meet a condition. Sends none of them.
 */
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

/**
 * What any of these reads of one block needs, newest first. An order reads a block for each of its ranks. Ranges
 * of two ranks always touch, so one request for all costs no more than several.
 */
const sendRanges = (
  org: number,
  kind: ListKind,
  reads: readonly RangeRead[],
  { project }: Projection,
): Promise<table.WireRow[]> => {
  const [first] = reads;
  const named = reads.flatMap(({ groupKeys }) => groupKeys ?? []);
  const isAny = reads.some(({ groupKeys }) => groupKeys === undefined);
  return readBlock(org, kind, first?.block ?? 0, {
    fromId: Math.min(...reads.map(({ fromId }) => fromId)),
    toId: Math.max(...reads.map(({ toId }) => toId)),
    descending: true,
    where: hasOneOf(isAny ? undefined : named),
    project,
  });
};

/** `sent`: what was sent for this read and others of its block. */
const readRange = async (
  org: number,
  kind: ListKind,
  read: RangeRead,
  { project }: Projection,
  sent?: readonly table.WireRow[],
): Promise<table.WireRow[]> => {
  const { groupKeys, fromId, toId, descending, skip, taken } = read;
  const rows = sent ?? (await sendRanges(org, kind, [read], { project }));
  const inRange = rows.filter(({ id }) => Number(id?.N) >= fromId && Number(id?.N) <= toId);
  const matching = inRange.filter(isOneOf(groupKeys));
  if (!descending) matching.reverse();
  const members = matching.slice(skip, skip + taken);
  // Members of the range have moved since the tally was read, and others of the block take their places.
  // In a full block the ids that the range left out come before the page.
  const whole = wholeBlock(read);
  if (members.length < taken && (fromId > whole.fromId || toId < whole.toId)) {
    const leftOut = descending ? whole.toId - toId : fromId - whole.fromId;
    return readRange(org, kind, { ...whole, descending, skip: skip + leftOut }, { project });
  }
  return descending ? members : members.reverse();
};

const readBoundary = async (
  org: number,
  kind: ListKind,
  { block, groupKeys, since, until, skip, taken }: BoundaryRead,
  { project }: Projection,
): Promise<{ rows: table.WireRow[]; visible: number }> => {
  const rows = await readBlock(org, kind, block, {
    descending: true,
    // What is a day old is the same in every copy of the table. A read that need not be consistent costs half.
    consistent: until > Date.now() - 86_400_000,
    where: allOf(hasOneOf(groupKeys), condition("#createdAt >= :since", { since })),
    project: taken > 0 ? project : ["group"],
  });
  const members = rows.filter(isOneOf(groupKeys));
  return { rows: members.slice(skip, skip + taken), visible: members.length };
};

const isOneOf = (groupKeys: readonly string[] | undefined): ((row: table.WireRow) => boolean) => {
  const wanted = groupKeys && new Set(groupKeys);
  return (row) => wanted?.has(groupKeyIn(row)) ?? true;
};

/**
 * Makes the table leave out members of other groups. Undefined if no group is left out, or if there are too
 * many group keys to name.
 */
const hasOneOf = (groupKeys: readonly string[] | undefined): Condition | undefined =>
  groupKeys === undefined || groupKeys.length > maximumValues
    ? undefined
    : condition(
        `#group IN (${groupKeys.map((_, index) => `:groupKey${index}`).join(", ")})`,
        Object.fromEntries(groupKeys.map((groupKey, index) => [`groupKey${index}`, groupKey])),
      );
