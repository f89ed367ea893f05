/**
 * Lists with exact totals, filters and offsets. What a page costs does not grow with the offset, and hardly
 * with the length of the list: a tally counts the members of each block of 1,024 ids by group key
 * (docs/lists.md).
 */
import { chunk } from "../aws/table/chunk.ts";
import type { Change, Condition, Item, Write } from "../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { blockOf, firstIdOf, type Reserved } from "./blocks.ts";
import { type FieldKinds, type GroupFields, groupKeyCodec } from "./group-key.ts";
import { changing, deletion, insertion, type MemberWrite, transactionOf } from "./member-writes.ts";
import { countOf, planPages } from "./plan.ts";
import { type BlockRead, countBlock, readBlock, readIds, readPlanned } from "./read-members.ts";
import * as tallies from "./tally.ts";

/** What the list itself keeps on the row of every member. */
export type Member<T = Item> = T & Key & { id: number; createdAt: string; group: string };

type PageInput<G, J, Name extends string> = {
  /** Which attributes of the members to read besides `id` and `group`. Default: all. */
  attributes?: readonly Name[] | undefined;
  /** Which groups are wanted. Default: all. */
  matches?: ((group: G) => boolean) | undefined;
  /** Lists members of groups with a higher rank first, newest first within a rank. Default: newest first. */
  rank?: ((group: G) => number) | undefined;
  limit: number;
  offset: number;
  /** ISO 8601. Members with an earlier `createdAt` are left out. */
  since?: string | undefined;
  /** Reads what belongs to the groups that can be on the page, in the same trip as the members. */
  join?: ((groups: G[]) => Promise<J>) | undefined;
};

/** How many blocks are read at the same time. */
const concurrency = 8;

/**
 * How many rows of a tally `following` looks at at once. One request can read them, however many groups they count.
 */
const maximumBlocks = 31;

/** How often `following` looks for a block that is not empty: through two million ids. */
const maximumLooks = 64;

const always = ["id", "group"] as const;
type Always = (typeof always)[number];

/**
 * For example
 * `countedList<{ domainId: number; isActive: boolean }, Email>("EMAIL", { domainId: "integer", isActive: "boolean" })`.
 * The order of the fields is stored: never change it.
 */
export const countedList = <G extends GroupFields, T = Item>(kind: ListKind, fields: FieldKinds<G>) => {
  type M = Member<T>;
  const codec = groupKeyCodec<G>(fields);
  const key = (org: number, id: number): Key => keys.member(org, kind, blockOf(id), id);

  return {
    kind,
    key,
    groupKeyOf: codec.encode,
    groupOf: (member: { group: string }): G => codec.decode(member.group),

    /** Inserts a member. `id`, `createdAt` and `group` are added to the item. */
    put: (org: number, reserved: Reserved, group: G, item: T): MemberWrite =>
      insertion(key(org, reserved.id), reserved, codec.encode(group), item as Item),

    /** Changes a member and moves it to the group `to`. The condition fails unless its group is `from`. */
    change: (org: number, id: number, change: Change & { from: G; to?: G | undefined }): MemberWrite => {
      const { from, to = from, ...rest } = change;
      return changing(key(org, id), id, { ...rest, from: codec.encode(from), to: codec.encode(to) });
    },

    /** Deletes a member. The condition fails unless its group is `from`. */
    delete: (org: number, id: number, from: G, given?: Condition): MemberWrite =>
      deletion(key(org, id), id, codec.encode(from), given),

    /** The writes of a transaction that writes members, with the counters of their blocks. */
    writes: (org: number, memberWrites: readonly MemberWrite[]): Write[] =>
      transactionOf(org, kind, memberWrites),

    get: (org: number, id: number): Promise<M | undefined> => table.get<M>(key(org, id)),

    /** Members in the order of `ids`, `undefined` for an id without a member. */
    getMany: async (
      org: number,
      ids: readonly number[],
      options: { consistent?: boolean } = {},
    ): Promise<(M | undefined)[]> => {
      const rows = await readIds(org, kind, ids, options);
      const members = new Map([...rows].map(([id, row]) => [id, table.fromWire<M>(row)]));
      return ids.map((id) => members.get(id));
    },

    /**
     * Members of a block by ascending ids, or `descending`: all of them, those from `fromId` to `toId`
     * (inclusive), or the first `limit`. `where`: only those for which it holds are sent; the others cost as
     * much.
     */
    members: async (org: number, block: number, options: BlockRead = {}): Promise<M[]> =>
      (await readBlock(org, kind, block, options)).map((row) => table.fromWire<M>(row)),

    /** The members of several blocks, block by block in the order of `blocks`. */
    membersOf: async function* (
      org: number,
      blocks: readonly number[],
      options: BlockRead = {},
    ): AsyncGenerator<M[], void, undefined> {
      for (const some of chunk(blocks, concurrency)) {
        const read = await Promise.all(some.map((block) => readBlock(org, kind, block, options)));
        for (const rows of read) yield rows.map((row) => table.fromWire<M>(row));
      }
    },

    /**
     * How many members of a block have one of these group keys (undefined: any) and meet a condition. Costs
     * the units of the block.
     */
    countMembers: (
      org: number,
      block: number,
      groupKeys: readonly string[] | undefined,
      where: Condition,
    ): Promise<number> => countBlock(org, kind, block, groupKeys, where),

    /**
     * The first members with ids above `after`, ascending. Takes two trips, and one more for 31 empty blocks
     * before. `next`: the block to go on with, if the page is short and blocks remain.
     */
    following: async <Name extends keyof M & string>(
      org: number,
      after: number,
      { limit, attributes }: { limit: number; attributes: readonly Name[] },
    ): Promise<{ items: Pick<M, Name | Always>[]; next: number | undefined }> => {
      const project = [...new Set<string>([...always, ...attributes])];
      let place = after;
      for (let look = 1; ; look++) {
        const { blocks, next } = await blocksAfter(org, kind, place, limit);
        const read = blocks.map((block) => {
          const fromId = Math.max(place + 1, firstIdOf(block));
          return readBlock(org, kind, block, { fromId, limit, project });
        });
        const items = (await Promise.all(read)).flat().slice(0, limit);
        if (items.length > 0 || next === undefined || look === maximumLooks) {
          return {
            items: items.map((row) => table.fromWire<M>(row)),
            next: items.length < limit ? next : undefined,
          };
        }
        place = firstIdOf(next) - 1;
      }
    },

    tally: (org: number): Promise<tallies.Tally> => tallies.read(org, kind),

    /** How many members each group has. */
    sums: (tally: tallies.Tally): { group: G; count: number }[] =>
      [...tallies.sums(tally)].map(([groupKey, count]) => ({ group: codec.decode(groupKey), count })),

    /** How many members match, exactly. */
    sum: (tally: readonly { counts: tallies.Counts }[], matches?: (group: G) => boolean): number => {
      const matching = codec.matcher(matches);
      return tally.reduce((sum, { counts }) => sum + countOf(counts, matching), 0);
    },

    /** Numbers of the blocks that hold a matching member, ascending. */
    blocks: (tally: tallies.Tally, matches?: (group: G) => boolean): number[] => {
      const matching = codec.matcher(matches);
      return tally
        .filter(({ counts }) => countOf(counts, matching) > 0)
        .map(({ block }) => block)
        .reverse();
    },

    /**
     * A page, newest first unless `rank` says otherwise, and how many members match in all. Takes two trips:
     * the tally, then the members together with what `join` reads. A member may be moved or deleted
     * between the two trips. It can then be missing, shift the page by one, still count in the total, or be
     * unknown to `join`. Nothing else can happen.
     */
    page: async <J = undefined, Name extends keyof M & string = keyof M & string>(
      org: number,
      { attributes, matches, rank, limit, offset, since, join }: PageInput<G, J, Name>,
    ): Promise<{
      items: Pick<M, Name | Always>[];
      total: number;
      tally: tallies.Tally;
      joined: J;
    }> => {
      const matching = codec.matcher(matches);
      const tally = await tallies.read(org, kind);
      const kinds = rank ? byRank(tally, matching, (key) => rank(codec.decode(key))) : [matching];
      const plan = planPages(tally, kinds, { limit, offset, since });
      const project = attributes && [...new Set<string>([...always, ...attributes])];
      const [joined, { rows, visible }] = await Promise.all([
        join?.([...plan.groupKeys].map(codec.decode)),
        readPlanned(org, kind, plan.reads, { project, matching }),
      ]);
      return {
        items: rows.map((row) => table.fromWire<M>(row)),
        total: plan.total + visible,
        tally,
        joined: joined as J,
      };
    },
  };
};

/** Which matching group keys of a tally have the highest rank, which the next, and so on. */
const byRank = (
  tally: tallies.Tally,
  matching: (groupKey: string) => boolean,
  rankOf: (groupKey: string) => number,
): ((groupKey: string) => boolean)[] => {
  const groupKeys = [...tallies.sums(tally).keys()].filter(matching);
  return [...Map.groupBy(groupKeys, rankOf)]
    .sort(([one], [other]) => other - one)
    .map(([, ofRank]) => {
      const wanted = new Set(ofRank);
      return (groupKey) => wanted.has(groupKey);
    });
};

/**
 * Blocks that are not empty, from that of the next id on, until they have `limit` members. `next`: the block
 * behind them.
 */
const blocksAfter = async (
  org: number,
  kind: ListKind,
  after: number,
  limit: number,
): Promise<{ blocks: number[]; next: number | undefined }> => {
  const rows = await tallies.readFrom(org, kind, blockOf(after + 1), maximumBlocks + 1);
  const blocks: number[] = [];
  // How many members of the first block come after the place is not known.
  let count = 0;
  for (const [index, { block, counts }] of rows.entries()) {
    if (count >= limit || index === maximumBlocks) return { blocks, next: block };
    const inBlock = countOf(counts, () => true);
    if (inBlock > 0) blocks.push(block);
    if (block !== blockOf(after + 1)) count += inBlock;
  }
  return { blocks, next: undefined };
};
