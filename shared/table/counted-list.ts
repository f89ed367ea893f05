/**
 * Lists with exact totals, filters and offsets at a cost that does not grow with the offset.
 *
 * A member lives in the partition of its block of 512 ids. Each block has one directory row that counts its members by
 * *facet*: the tuple of the fields that can be filtered on, encoded as `12-3-1`. That name is the counter's attribute on
 * the directory row and the attribute `facet` of the member. Every write of a member goes into one transaction with its
 * block's counters and is conditional on the facet that the member had, so the counters are exact by construction.
 *
 * A page takes two trips: the directory (directory.ts; it tells the total and the blocks that hold the page), then those
 * blocks, or the members alone where the directory tells which they are.
 */
import { blockOf, blockSize, firstIdOf, type Reserved } from "./blocks.ts";
import { absent, allOf, type Change, type Condition, condition, type Item, type Write } from "./condition.ts";
import type { Counts, Directory, DirectoryRow } from "./directory.ts";
import * as directories from "./directory.ts";
import { type Key, keys, type ListKind, padded } from "./keys.ts";
import { markedIds, markStep } from "./marks.ts";
import * as table from "./table.ts";

type FacetValue = number | string | boolean | null;

/** How each field of a facet is written: `integer` may be null, `word` is letters, digits and `_`. */
type FacetFields<F> = {
  [Name in keyof F]: [F[Name]] extends [boolean]
    ? "boolean"
    : [F[Name]] extends [number | null]
      ? "integer"
      : "word";
};

/** What the list itself keeps on every member's row. */
export type Member<T = Item> = T & Key & { id: number; createdAt: string; facet: string };

/** A write of a member together with what it moves; `writes` turns them into those of a transaction. */
export type MemberWrite = {
  write: Write;
  block: number;
  moves: { facet: string; by: number }[];
  /** On inserts. */
  blockFrom?: string;
};

export type PageInput<F, J, Name extends string> = {
  /** What is wanted of the members beside `id` and `facet`. Default: everything. */
  attributes?: readonly Name[] | undefined;
  /** Default: all. */
  matches?: ((facet: F) => boolean) | undefined;
  limit: number;
  offset: number;
  /** Only members whose `createdAt` is not earlier; ISO 8601. */
  since?: string | undefined;
  /** Reads what belongs to facets that may be on the page, in the same trip as the page itself. */
  join?: ((facets: F[]) => Promise<J>) | undefined;
};

/** What a page takes of a block: from the `start`-th matching member on, newest first. */
type Part = {
  matching: (name: string) => boolean;
  start: number;
  taken: number;
  /** Attributes; undefined: all. */
  project: readonly string[] | undefined;
};

/** Sort keys, both inclusive, and how many members of the block that match are `before` them. */
type IdWindow = { from: string; to: string; before: number };

const always = ["id", "facet"] as const;
type Always = (typeof always)[number];

/** A further request computes about as much as so many rows that are only passed over. */
const worthCounting = 32;

/** So many ids side by side are read as a range: a further request, and a read unit for several of them instead of each. */
const worthRange = 8;

/** Values that DynamoDB takes in one `IN`. */
const maxFacetsInFilter = 100;

/**
 * `countedList<{ domainId: number; isActive: boolean }, Email>("EMAIL", { domainId: "integer", isActive: "boolean" })`.
 * The order of the fields is part of what is stored: never change it.
 */
export const countedList = <F extends Record<string, FacetValue>, T = Item>(
  kind: ListKind,
  fields: FacetFields<F>,
) => {
  type M = Member<T>;
  const fieldNames = Object.keys(fields) as (keyof F & string)[];

  const encode = (facet: F): string => {
    const name = fieldNames.map((field) => encodeValue(facet[field] as FacetValue)).join("-");
    if (directories.isReserved(name)) throw new Error(`A facet cannot be named ${name}`);
    return name;
  };

  const decode = (name: string): F => {
    const parts = name.split("-");
    return Object.fromEntries(
      fieldNames.map((field, index) => [field, decodeValue(fields[field], parts[index] ?? "")]),
    ) as F;
  };

  /** Whether an encoded facet matches, decided once for each distinct one. */
  const remembering = (matches: ((facet: F) => boolean) | undefined): ((name: string) => boolean) => {
    if (matches === undefined) return () => true;
    const known = new Map<string, boolean>();
    return (name) => {
      let answer = known.get(name);
      if (answer === undefined) {
        answer = matches(decode(name));
        known.set(name, answer);
      }
      return answer;
    };
  };

  const key = (org: number, id: number): Key => keys.member(org, kind, blockOf(id), id);

  /** Rows of a block as they come, newest first: most are only passed over on the way to those of a page. */
  const readRows = (
    org: number,
    block: number,
    options: Omit<table.QueryInput, "pk">,
  ): Promise<table.WireRow[]> =>
    table.queryWire({ pk: keys.member(org, kind, block, 0).pk, descending: true, ...options });

  const fromRows = (rows: table.WireRow[]): M[] => rows.map((row) => table.fromWire<M>(row));

  /** Members of a block; `count` match. */
  const readPart = async (org: number, row: DirectoryRow, part: Part & { count: number }): Promise<M[]> => {
    const { matching, count, start, taken, project } = part;
    if (count === countIn(row, () => true)) {
      const rows = await readPlaces(org, row.block, { count, start, taken, project });
      return fromRows(rows.filter(hasFacetThat(matching)));
    }
    const where = hasOneOf(matchingFacets(row, matching));
    const marked = where && (betweenOthers(row, part) ?? betweenMarks(row, part));
    if (marked !== undefined) {
      const { before, ...range } = marked;
      const rows = await readRows(org, row.block, { ...range, where, project });
      const between = rows.slice(start - before, start - before + taken);
      if (between.length === taken) return fromRows(between);
    }
    const passed = (start * count) / blockSize < worthCounting ? 0 : start;
    const after = count - start - taken;
    if (where !== undefined && marked === undefined && passed + after > 0) {
      const near = await readNear(org, row.block, part, { where, passed, after });
      if (near.length === taken) return fromRows(near);
    }
    const rows = await readRows(org, row.block, { where, project });
    return fromRows(rows.filter(hasFacetThat(matching)).slice(start, start + taken));
  };

  /**
   * Where every id of a block is a member's and all that do not match are marked, the others are known too: from the last of a
   * part to its first.
   */
  const betweenOthers = (
    row: DirectoryRow,
    { matching, count, start, taken }: Part & { count: number },
  ): IdWindow | undefined => {
    const others = new Set(
      [...row.counts.keys()]
        .filter((name) => !matching(name))
        .flatMap((name) => markedIds(row.block, row.marks.get(name) ?? "")),
    );
    if (countIn(row, () => true) !== blockSize || others.size !== blockSize - count) return undefined;
    const newest = firstIdOf(row.block + 1) - 1;
    const ids = Array.from({ length: blockSize }, (_, index) => newest - index).filter(
      (id) => !others.has(id),
    );
    const [first, last] = [ids[start], ids[start + taken - 1]];
    if (first === undefined || last === undefined) return undefined;
    return { from: padded(last), to: padded(first), before: start };
  };

  /** From the mark before a part to the one after it. Of a single facet: those of several alternate in ways that marks do not tell. */
  const betweenMarks = (row: DirectoryRow, { matching, start, taken }: Part): IdWindow | undefined => {
    const [facet = "", ...others] = matchingFacets(row, matching).filter(
      (name) => row.counts.get(name) !== 0,
    );
    if (others.length > 0) return undefined;
    const marks = markedIds(row.block, row.marks.get(facet) ?? "");
    const step = markStep(row.counts.get(facet) ?? 0);
    const first = Math.floor(start / step);
    const to = marks[first];
    if (to === undefined) return undefined;
    const next = marks[Math.ceil((start + taken) / step)];
    return {
      from: padded(next === undefined ? firstIdOf(row.block) : next + 1),
      to: padded(to),
      before: first * step,
    };
  };

  /**
   * At least `passed` ids of the block are newer than the page, at least `after` are older: one for each member that matches
   * before and after it. Only those between are read; what matches among the newer ones is counted. This is the page if it is
   * as long as it should be; else members were moved meanwhile.
   */
  const readNear = async (
    org: number,
    block: number,
    { start, taken, project }: Part,
    { where, passed, after }: { where: Condition; passed: number; after: number },
  ): Promise<table.WireRow[]> => {
    const from = padded(firstIdOf(block) + after);
    const to = firstIdOf(block + 1) - 1 - passed;
    const [before, rows] = await Promise.all([
      passed === 0
        ? 0
        : table.count({ pk: keys.member(org, kind, block, 0).pk, from: padded(to + 1), where }),
      readRows(org, block, { from, to: padded(to), where, project }),
    ]);
    return rows.slice(start - before, start - before + taken);
  };

  /** The ids of a part, where all that match are marked. A query reads several for a unit if all members match. */
  const idsOf = (row: DirectoryRow, part: Part & { count: number }): number[] | undefined => {
    const { matching, count, start, taken } = part;
    if (count > 1 && count === countIn(row, () => true)) return undefined;
    const ids = matchingFacets(row, matching).flatMap((facet) =>
      markedIds(row.block, row.marks.get(facet) ?? ""),
    );
    if (ids.length !== count) return undefined;
    return ids.sort((one, other) => other - one).slice(start, start + taken);
  };

  /** Members that still match, by their ids. */
  const readIds = async (
    org: number,
    ids: readonly number[],
    { matching, project }: Pick<Part, "matching" | "project">,
  ): Promise<Map<number, M>> => {
    const { single, ranges } = rangesOf(ids, worthRange);
    const rows = await Promise.all([
      table.getManyWire(
        single.map((id) => key(org, id)),
        { project },
      ),
      ...ranges.map(({ block, fromId, toId }) =>
        readRows(org, block, { from: padded(fromId), to: padded(toId), project }),
      ),
    ]);
    const members = fromRows(rows.flat().filter(hasFacetThat(matching)));
    return new Map(members.map((member) => [member.id, member]));
  };

  /** Every member of the block matches, so places are known. */
  const readPlaces = async (
    org: number,
    block: number,
    { count, start, taken, project }: Omit<Part, "matching"> & { count: number },
  ): Promise<table.WireRow[]> => {
    if (count === blockSize) {
      // There are no gaps: places are ids.
      const newest = firstIdOf(block + 1) - 1 - start;
      return readRows(org, block, { from: padded(newest - taken + 1), to: padded(newest), project });
    }
    // From the nearer end.
    const descending = start + taken <= count - start;
    const limit = descending ? start + taken : count - start;
    const rows = await readRows(org, block, { descending, limit, project });
    const newestFirst = descending ? rows.slice(start) : rows.reverse();
    return newestFirst.slice(0, taken);
  };

  /** The same of the block that the time boundary runs through, and how many of its matching members are visible. */
  const readMixed = async (
    org: number,
    row: DirectoryRow,
    part: Part & { since: string },
  ): Promise<{ count: number; items: M[] }> => {
    const { matching, since, start, taken, project } = part;
    const visible = condition("#createdAt >= :since", { since });
    const all = countIn(row, () => true);
    if (countIn(row, matching) === all && start + taken <= all / 4) {
      // Those of the page are sent, all others only counted.
      const [count, rows] = await Promise.all([
        table.count({ pk: keys.member(org, kind, row.block, 0).pk, where: visible }),
        taken > 0 ? readPlaces(org, row.block, { count: all, start, taken, project }) : [],
      ]);
      const matched = fromRows(rows.filter(hasFacetThat(matching)));
      return { count, items: matched.filter((each) => each.createdAt >= since) };
    }
    const rows = await readRows(org, row.block, {
      where: allOf(hasOneOf(matchingFacets(row, matching)), visible),
      project: taken > 0 ? project : ["facet"],
    });
    const matched = rows.filter(hasFacetThat(matching));
    return { count: matched.length, items: fromRows(matched.slice(start, start + taken)) };
  };

  const list = {
    kind,
    key,
    encode,

    /** The fields of a member's facet. */
    facetOf: (member: { facet: string }): F => decode(member.facet),

    /** Inserts a member; `id`, `createdAt` and `facet` are added to the item. */
    put: (org: number, reserved: Reserved, facet: F, item: T): MemberWrite => ({
      write: {
        put: {
          ...(item as Item),
          ...key(org, reserved.id),
          id: reserved.id,
          createdAt: reserved.createdAt,
          facet: encode(facet),
        },
        if: absent,
      },
      block: reserved.block,
      moves: [{ facet: encode(facet), by: 1 }],
      blockFrom: reserved.blockFrom,
    }),

    /** Changes a member that has the facet `from` (else refused), and moves it to `to`. */
    change: (org: number, id: number, change: Change & { from: F; to?: F | undefined }): MemberWrite => {
      const { from, to, if: given, ...rest } = change;
      const before = encode(from);
      const after = encode(to ?? from);
      const moved = after !== before;
      return {
        write: {
          update: key(org, id),
          ...rest,
          ...(moved && { set: { ...rest.set, facet: after } }),
          if: allOf(hasFacet(before), given),
        },
        block: blockOf(id),
        moves: moved
          ? [
              { facet: before, by: -1 },
              { facet: after, by: 1 },
            ]
          : [],
      };
    },

    /** Deletes a member that has the facet `from` (else refused). */
    delete: (org: number, id: number, from: F, given?: Condition): MemberWrite => ({
      write: { delete: key(org, id), if: allOf(hasFacet(encode(from)), given) },
      block: blockOf(id),
      moves: [{ facet: encode(from), by: -1 }],
    }),

    /**
     * The writes of a transaction: those of the members, in their order, then one update for each directory row whose
     * counters move. (A transaction takes 100 in all.)
     */
    writes: (org: number, memberWrites: readonly MemberWrite[]): Write[] => {
      const blocks = new Map<number, { net: Map<string, number>; from?: string }>();
      for (const { block, moves, blockFrom } of memberWrites) {
        const entry = blocks.get(block) ?? { net: new Map<string, number>() };
        for (const { facet, by } of moves) entry.net.set(facet, (entry.net.get(facet) ?? 0) + by);
        if (blockFrom !== undefined) entry.from = blockFrom;
        blocks.set(block, entry);
      }
      const directoryWrites: Write[] = [];
      for (const [block, { net, from }] of blocks) {
        if (net.size === 0) continue;
        directoryWrites.push({
          update: keys.directory(org, kind, block),
          // Also where nothing is added in the end: the members of the facet are others now.
          add: { ...Object.fromEntries(net), writes: 1 },
          ...(from !== undefined && { setOnce: { from } }),
        });
      }
      return [...memberWrites.map((each) => each.write), ...directoryWrites];
    },

    get: (org: number, id: number): Promise<M | undefined> => table.get<M>(key(org, id)),

    /**
     * Members in the order of the ids, `undefined` where there is none. Ids of a block lie side by side, so where they
     * are dense one range query costs less than a read unit for each.
     */
    getMany: async (org: number, ids: readonly number[]): Promise<(M | undefined)[]> => {
      const { single, ranges } = rangesOf(ids, 2);
      const [singles, ...ranged] = await Promise.all([
        table.getMany<M>(single.map((id) => key(org, id))),
        ...ranges.map(({ block, fromId, toId }) => list.members(org, block, { fromId, toId })),
      ]);
      const found = new Map<number, M>();
      for (const member of [...singles, ...ranged.flat()]) {
        if (member !== undefined) found.set(member.id, member);
      }
      return ids.map((id) => found.get(id));
    },

    /** Members of a block, ascending, whole or between two ids (inclusive). */
    members: (
      org: number,
      block: number,
      options: { fromId?: number; toId?: number; project?: readonly string[] } = {},
    ): Promise<M[]> =>
      table.query<M>({
        pk: keys.member(org, kind, block, 0).pk,
        from: options.fromId === undefined ? undefined : padded(options.fromId),
        to: options.toId === undefined ? undefined : padded(options.toId),
        project: options.project,
      }),

    directory: async (org: number): Promise<Directory> => (await directories.read(org, kind)).directory,

    /** How many members match, exactly. */
    sum: (directory: readonly { counts: Counts }[], matches?: (facet: F) => boolean): number => {
      const matching = remembering(matches);
      return directory.reduce((sum, section) => sum + countIn(section, matching), 0);
    },

    /** Blocks that hold a matching member, ascending. */
    blocks: (directory: Directory, matches?: (facet: F) => boolean): number[] => {
      const matching = remembering(matches);
      return directory
        .filter((section) => countIn(section, matching) > 0)
        .flatMap((section) => section.rows())
        .filter((row) => countIn(row, matching) > 0)
        .map((row) => row.block)
        .reverse();
    },

    /**
     * A page, newest first, and how many match in all; `beside` are the rows beside the directory. Two trips, with what
     * `join` reads in the second (more while the directory is rolled up or members are moved). Members that are moved or
     * deleted between the two can be missing from the page (or be one more in the total), shift it by as many places, or have a
     * facet that `join` was not told; nothing else can.
     */
    page: async <J = undefined, Name extends keyof M & string = keyof M & string>(
      org: number,
      input: PageInput<F, J, Name>,
    ): Promise<{
      items: Pick<M, Name | Always>[];
      total: number;
      directory: Directory;
      beside: table.WireRow[];
      joined: J;
    }> => {
      const { limit, offset, since, join } = input;
      const project = input.attributes && [
        ...new Set([...always, ...(since === undefined ? [] : ["createdAt"]), ...input.attributes]),
      ];
      const matching = remembering(input.matches);
      const { directory, beside } = await directories.read(org, kind, {
        withMarks: input.matches !== undefined,
      });
      const { whole, mixed } = since === undefined ? { whole: directory } : visibleOf(kind, directory, since);

      let total = 0;
      let skip = offset;
      let needed = limit;
      let counted: number | Promise<number> = 0;
      /** Members, or their ids. */
      const found: (Promise<M[]> | number[])[] = [];
      const facetsOnPage = new Set<string>();
      const find = (row: DirectoryRow, members: Promise<M[]> | number[]): void => {
        for (const name of matchingFacets(row, matching)) facetsOnPage.add(name);
        found.push(members);
      };
      for (const section of whole) {
        const inSection = countIn(section, matching);
        total += inSection;
        if (needed === 0 || skip >= inSection) {
          skip = Math.max(0, skip - inSection);
          continue;
        }
        for (const row of section.rows()) {
          const count = countIn(row, matching);
          const taken = Math.min(needed, Math.max(0, count - skip));
          if (taken > 0) {
            const part = { matching, count, start: skip, taken, project };
            find(row, idsOf(row, part) ?? readPart(org, row, part));
          }
          skip = Math.max(0, skip - count);
          needed -= taken;
        }
      }

      if (mixed !== undefined && since !== undefined && countIn(mixed, matching) > 0) {
        const part = readMixed(org, mixed, { matching, since, start: skip, taken: needed, project });
        counted = part.then(({ count }) => count);
        find(
          mixed,
          part.then(({ items }) => items),
        );
      }

      const ids = found.filter((each) => Array.isArray(each)).flat();
      const byIds = readIds(org, ids, { matching, project });
      const [joined, visible, ...parts] = await Promise.all([
        join?.([...facetsOnPage].map(decode)),
        counted,
        ...found.map(async (each) => (Array.isArray(each) ? pick(await byIds, each) : each)),
      ]);
      return {
        items: parts.flat(),
        total: total + visible,
        directory,
        beside,
        joined: joined as J,
      };
    },
  };
  return list;
};

const encodeValue = (value: FacetValue): string => {
  if (value === null) return "_";
  if (typeof value === "boolean") return value ? "1" : "0";
  const encoded = String(value);
  if (!/^\w+$/.test(encoded)) throw new Error(`Not a value of a facet: ${encoded}`);
  return encoded;
};

const decodeValue = (as: "boolean" | "integer" | "word", encoded: string): FacetValue => {
  if (as === "boolean") return encoded === "1";
  if (as === "integer") return encoded === "_" ? null : Number(encoded);
  return encoded;
};

/** What is visible whole, and the block that the boundary may run through: the table counts what is visible of it. */
const visibleOf = (
  kind: ListKind,
  directory: Directory,
  since: string,
): { whole: Directory; mixed?: DirectoryRow } => {
  const whole: Directory = [];
  for (const section of directory) {
    const { key, from } = section;
    if (from !== undefined && from >= since) {
      whole.push(section);
      continue;
    }
    const rows = section.rows();
    if (rows.length > 1 && !directories.timedKinds.includes(kind))
      throw new Error("This list has no time boundary");
    for (const row of rows) {
      if ((row.from ?? "") < since) return { whole, mixed: row };
      whole.push({ ...row, key, rows: () => [row] });
    }
  }
  return { whole };
};

/** Ids of which at least so many lie side by side in a block, and the others. */
const rangesOf = (
  ids: readonly number[],
  atLeast: number,
): { single: number[]; ranges: { block: number; fromId: number; toId: number }[] } => {
  const byBlock = new Map<number, number[]>();
  for (const id of new Set(ids)) {
    const block = blockOf(id);
    byBlock.set(block, [...(byBlock.get(block) ?? []), id]);
  }
  const single: number[] = [];
  const ranges: { block: number; fromId: number; toId: number }[] = [];
  for (const [block, inBlock] of byBlock) {
    const fromId = Math.min(...inBlock);
    const toId = Math.max(...inBlock);
    // Rows of up to about 1 KB: four to a read unit.
    if (inBlock.length >= atLeast && toId - fromId < 4 * inBlock.length) ranges.push({ block, fromId, toId });
    else single.push(...inBlock);
  }
  return { single, ranges };
};

const pick = <M>(members: ReadonlyMap<number, M>, ids: readonly number[]): M[] =>
  ids.map((id) => members.get(id)).filter((member) => member !== undefined);

const hasFacetThat =
  (matching: (name: string) => boolean) =>
  (row: table.WireRow): boolean =>
    matching(row.facet?.S ?? "");

const hasFacet = (name: string): Condition => condition("#facet = :facetBefore", { facetBefore: name });

/** Facets that a block has or had members of, and that match. */
const matchingFacets = (row: DirectoryRow, matching: (name: string) => boolean): string[] =>
  [...row.counts.keys()].filter(matching);

/** Leaves out the members of other facets, so that they are not sent; undefined when there are too many to name. */
export const hasOneOf = (names: readonly string[]): Condition | undefined =>
  names.length > maxFacetsInFilter
    ? undefined
    : condition(
        `#facet IN (${names.map((_, index) => `:facet${index}`).join(", ")})`,
        Object.fromEntries(names.map((name, index) => [`facet${index}`, name])),
      );

const countIn = ({ counts }: { counts: Counts }, matching: (name: string) => boolean): number => {
  let count = 0;
  for (const [name, members] of counts) if (matching(name)) count += members;
  return count;
};
