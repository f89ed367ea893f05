import { Logger } from "@aws-lambda-powertools/logger";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { condition } from "../../shared/aws/table/condition.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, blockSize, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { countedList } from "../../shared/lists/counted-list.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { dropZeros } from "../../shared/lists/zeros.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";

type Group = { domainId: number; teamId: number | null; isActive: boolean };
type Email = { email: string };

const fields = { domainId: "integer", teamId: "integer", isActive: "boolean" } as const;
const emails = countedList<Group, Email>("EMAIL", fields);

useEngine();

const time = (second: number): string => new Date(Date.UTC(2030, 0, 1) + second * 1_000).toISOString();

let organizations = 0;
const newOrganization = (): number => ++organizations;

// The naive list: an array that is filtered, sorted and sliced.

type Known = { id: number; createdAt: string; group: Group; email: string };
type Filter = Partial<Group>;
type Query = {
  filter: Filter;
  /** In the order of `rankOf`. */
  ranked?: boolean;
  limit: number;
  offset: number;
  since: string | undefined;
};

/** Disabled members of the second domain first, then those of the first, then enabled ones likewise. */
const rankOf = ({ domainId, isActive }: Group): number => 10 * Number(!isActive) + domainId;

const matchesOf =
  (filter: Filter) =>
  (group: Group): boolean =>
    Object.entries(filter).every(([name, value]) => group[name as keyof Group] === value);

const naivePage = (model: Known[], query: Query): { ids: number[]; total: number } => {
  const matching = model
    .filter((each) => matchesOf(query.filter)(each.group))
    .filter((each) => query.since === undefined || each.createdAt >= query.since)
    .sort((one, other) => other.id - one.id);
  if (query.ranked) matching.sort((one, other) => rankOf(other.group) - rankOf(one.group));
  return {
    ids: matching.slice(query.offset, query.offset + query.limit).map((each) => each.id),
    total: matching.length,
  };
};

/**
 * Throws unless the list answers this query as the naive list does, and the members have their right content.
 */
const check = async (org: number, model: Known[], query: Query): Promise<void> => {
  const { filter, ranked, ...rest } = query;
  // A query without a filter has no `matches`, as callers do it.
  const matches = Object.keys(filter).length === 0 ? undefined : matchesOf(filter);
  const page = await emails.page(org, { matches, ...rest, ...(ranked && { rank: rankOf }) });
  const naive = naivePage(model, query);
  expect({ ids: page.items.map((item) => item.id), total: page.total }).toEqual(naive);
  for (const item of page.items) {
    const known = model.find((each) => each.id === item.id);
    expect({
      id: item.id,
      createdAt: item.createdAt,
      group: emails.groupOf(item),
      email: item.email,
    }).toEqual(known);
  }
  const all = naivePage(model, { ...query, since: undefined });
  expect(emails.sum(page.tally, matches)).toBe(all.total);
};

// Random histories

const groupArbitrary: fc.Arbitrary<Group> = fc.record({
  domainId: fc.integer({ min: 1, max: 2 }),
  teamId: fc.constantFrom(null, 7),
  isActive: fc.boolean(),
});

const queryArbitrary = fc.record({
  filter: fc.oneof(
    fc.constant<Filter>({}),
    groupArbitrary,
    groupArbitrary.map(({ domainId }): Filter => ({ domainId })),
    groupArbitrary.map(({ teamId, isActive }): Filter => ({ teamId, isActive })),
    fc.constant<Filter>({ domainId: 99 }),
  ),
  ranked: fc.boolean(),
  limit: fc.integer({ min: 1, max: 100 }),
  offset: fc.oneof(fc.constant(0), fc.nat(40), fc.nat(400)),
  /** Which of the model's times the boundary is, and on which side of that time it lies. */
  boundary: fc.option(fc.record({ at: fc.nat(10_000), nudge: fc.constantFrom(-1, 0, 1) }), { freq: 3 }),
});

const pick = fc.nat(100_000);
const seconds = fc.integer({ min: -5, max: 20 });
const operationArbitrary = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("insert" as const),
      groups: fc.array(groupArbitrary, { minLength: 1, maxLength: 60, size: "max" }),
      seconds,
    }),
  },
  // Ids that are reserved and never used: a crash leaves them, and they make a block end soon.
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("skip" as const), ids: fc.integer({ min: 1, max: 1_800 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      which: fc.array(pick, { minLength: 1, maxLength: 8 }),
      to: groupArbitrary,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("delete" as const),
      which: fc.array(pick, { minLength: 1, maxLength: 30 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("mix" as const),
      insert: groupArbitrary,
      change: pick,
      to: groupArbitrary,
      remove: pick,
      seconds,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("stale" as const), which: pick, wrong: groupArbitrary }),
  },
  // Many blocks.
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("spread" as const),
      groups: fc.array(groupArbitrary, { minLength: 20, maxLength: 45, size: "max" }),
      seconds,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("changeAll" as const), to: groupArbitrary }),
  },
  { weight: 4, arbitrary: fc.constant({ do: "dropZeros" as const }) },
);

type Operation = typeof operationArbitrary extends fc.Arbitrary<infer O> ? O : never;

type World = { org: number; clock: number; model: Known[] };

const insertWrites = (world: World, reserved: Reserved[], groups: Group[]): [MemberWrite[], Known[]] => {
  const known = reserved.map(({ id, createdAt }, index) => ({
    id,
    createdAt,
    group: groups[index] as Group,
    email: `a${id}@x.test`,
  }));
  const writes = known.map(({ group, email }, index) =>
    emails.put(world.org, reserved[index] as Reserved, group, { email }),
  );
  return [writes, known];
};

const apply = async (world: World, operation: Operation): Promise<void> => {
  const { org } = world;
  const chosen = (which: number[]): Known[] =>
    world.model.length === 0
      ? []
      : [...new Set(which.map((each) => world.model[each % world.model.length] as Known))];
  switch (operation.do) {
    case "insert": {
      world.clock += operation.seconds;
      const reserved = await reserve(org, "EMAIL", operation.groups.length, { at: time(world.clock) });
      const [writes, known] = insertWrites(world, reserved, operation.groups);
      await table.transact(emails.writes(org, writes));
      world.model.push(...known);
      return;
    }
    case "spread": {
      world.clock += operation.seconds;
      const { groups } = operation;
      const all = await reserve(org, "EMAIL", groups.length * blockSize, { at: time(world.clock) });
      const reserved = groups.map((_, index) => all[index * blockSize] as Reserved);
      const [writes, known] = insertWrites(world, reserved, groups);
      await table.transact(emails.writes(org, writes));
      world.model.push(...known);
      return;
    }
    case "changeAll":
      for (let start = 0; start < world.model.length; start += 45) {
        const which = world.model.slice(start, start + 45).map((_, index) => start + index);
        await apply(world, { do: "change", which, to: operation.to });
      }
      return;
    case "dropZeros":
      await dropZeros(org, ["EMAIL"], () => true, new Logger());
      return;
    case "skip":
      await reserve(org, "EMAIL", operation.ids, { at: time(world.clock) });
      return;
    case "change": {
      const targets = chosen(operation.which);
      const writes = targets.map(({ id, group, email }) => {
        const rest = { set: { email: `${email}!` } };
        return emails.change(org, id, { from: group, to: operation.to, ...rest });
      });
      await table.transact(emails.writes(org, writes));
      for (const target of targets) {
        target.group = operation.to;
        target.email += "!";
      }
      return;
    }
    case "delete": {
      const targets = chosen(operation.which);
      await table.transact(
        emails.writes(
          org,
          targets.map(({ id, group }) => emails.delete(org, id, group)),
        ),
      );
      world.model = world.model.filter((each) => !targets.includes(each));
      return;
    }
    case "mix": {
      world.clock += operation.seconds;
      const [changed] = chosen([operation.change]);
      const removed = chosen([operation.remove]).find((each) => each !== changed);
      const reserved = await reserve(org, "EMAIL", 1, { at: time(world.clock) });
      const [writes, known] = insertWrites(world, reserved, [operation.insert]);
      if (changed)
        writes.push(
          emails.change(org, changed.id, { from: changed.group, to: operation.to, set: { email: "m" } }),
        );
      if (removed) writes.push(emails.delete(org, removed.id, removed.group));
      await table.transact(emails.writes(org, writes));
      if (changed) Object.assign(changed, { group: operation.to, email: "m" });
      world.model = world.model.filter((each) => each !== removed).concat(known);
      return;
    }
    case "stale": {
      const [target] = chosen([operation.which]);
      if (target === undefined || emails.groupKeyOf(target.group) === emails.groupKeyOf(operation.wrong))
        return;
      for (const write of [
        emails.change(org, target.id, { from: operation.wrong, to: target.group }),
        emails.delete(org, target.id, operation.wrong),
      ]) {
        await expect(table.transact(emails.writes(org, [write]))).rejects.toBeInstanceOf(
          table.TransactionRefused,
        );
      }
      return;
    }
  }
};

const queryOf = (
  model: Known[],
  given: typeof queryArbitrary extends fc.Arbitrary<infer Q> ? Q : never,
): Query => {
  const { boundary, ranked: isRanked, ...rest } = given;
  // The block at the boundary can be read once only.
  const ranked = isRanked && boundary === null;
  const times = [...new Set(model.map((each) => each.createdAt))].sort();
  const at = boundary === null ? undefined : times[boundary.at % Math.max(1, times.length)];
  const since =
    boundary === null
      ? undefined
      : new Date((at === undefined ? Date.parse(time(0)) : Date.parse(at)) + boundary.nudge).toISOString();
  return { ...rest, ranked, since };
};

const history = fc.array(
  fc.record({
    which: fc.nat(1),
    operation: operationArbitrary,
    // Each member of a page may be in another block.
    queries: fc.array(
      queryArbitrary.map((query) => ({ ...query, limit: 1 + (query.limit % 10) })),
      { minLength: 2, maxLength: 3 },
    ),
  }),
  { minLength: 15, maxLength: 40, size: "max" },
);

/** Plays random histories of two organizations, and compares after every step. */
const histories = () =>
  fc.asyncProperty(history, async (steps) => {
    const worlds: World[] = [0, 1].map(() => ({ org: newOrganization(), clock: 0, model: [] }));
    for (const { which, operation, queries } of steps) {
      await apply(worlds[which] as World, operation);
      for (const [index, { org, model }] of worlds.entries()) {
        // Nothing has changed of the other organization. Old blocks lie far back.
        const asked = (index === which ? queries : []).map((query) => {
          const { offset, ...rest } = queryOf(model, query);
          return { ...rest, offset: (7 * offset) % (model.length + 1) };
        });
        const newest = { filter: {}, limit: 100, offset: 0, since: undefined };
        await Promise.all([newest, ...asked].map((query) => check(org, model, query)));
      }
    }
  });

const seed = Number(process.env.SEED ?? 20_300_101);

describe("a counted list", () => {
  test("equals a naive list in pages, filters and totals at every step", async () => {
    console.log(`SEED=${seed}`);
    await fc.assert(histories(), { seed, numRuns: Number(process.env.RUNS ?? 5), endOnFailure: true });
  }, 600_000);
});

const anyGroup: Group = { domainId: 1, teamId: null, isActive: true };

/** Inserts members with consecutive ids; where a group is undefined, the id gets no member. */
const fill = async (org: number, groups: readonly (Group | undefined)[]): Promise<Known[]> => {
  const reserved = await reserve(org, "EMAIL", groups.length);
  const model = reserved.flatMap((each, index): (Known & { reserved: Reserved })[] => {
    const [group, email] = [groups[index], `person${each.id}@example.test`];
    return group ? [{ id: each.id, createdAt: each.createdAt, group, email, reserved: each }] : [];
  });
  for (const part of chunk(model, 98)) {
    const writes = part.map(({ reserved, group, email }) => emails.put(org, reserved, group, { email }));
    await table.transact(emails.writes(org, writes));
  }
  return model.map(({ reserved: _, ...known }) => known);
};

describe("writers at the same time", () => {
  test("leave exact totals, whichever writes were refused", async () => {
    const org = newOrganization();
    const reserved = await fill(org, Array(20).fill(anyGroup));
    const flip = async ({ id }: Known): Promise<boolean> => {
      const flipped = emails.change(org, id, { from: anyGroup, to: { ...anyGroup, isActive: false } });
      return table.transact(emails.writes(org, [flipped])).then(
        () => true,
        () => false,
      );
    };
    const insert = async (): Promise<boolean> => {
      const [one] = await reserve(org, "EMAIL", 1);
      if (one === undefined) return false;
      await table.transact(emails.writes(org, [emails.put(org, one, anyGroup, { email: "new" })]));
      return true;
    };
    const removal = ({ id }: Known): Promise<boolean> =>
      table.transact(emails.writes(org, [emails.delete(org, id, anyGroup)])).then(
        () => true,
        () => false,
      );
    const readers = Array.from({ length: 10 }, () =>
      emails.page(org, { limit: 100, offset: 0, matches: (group) => group.isActive }),
    );
    const some = reserved.slice(0, 10);
    // On a busy machine so many conflicts can take longer than the six seconds that people wait.
    const results = await withTimeOf(150_000, () =>
      Promise.all([
        Promise.all([...some, ...some].map(flip)),
        Promise.all(Array.from({ length: 10 }, insert)),
        Promise.all(some.map(removal)),
      ]),
    );
    await Promise.all(readers);
    const done = results.map((each) => each.filter(Boolean).length);
    const [flipped = 0, inserted = 0, removed = 0] = done;
    expect(flipped + removed).toBe(10); // each of the ten was flipped once or removed, never both
    const page = await emails.page(org, { limit: 100, offset: 0 });
    expect(page.total).toBe(20 + inserted - removed);
    expect(page.items.length).toBe(page.total);
    expect(emails.sum(page.tally, (group) => !group.isActive)).toBe(flipped);
  });

  test("a second insert of an id is refused and not counted", async () => {
    const org = newOrganization();
    const [one] = (await reserve(org, "EMAIL", 1)) as [Reserved];
    const writes = emails.writes(org, [emails.put(org, one, anyGroup, { email: "x" })]);
    await table.transact(writes);
    await expect(table.transact(writes)).rejects.toMatchObject({ failed: [{ index: 0 }] });
    expect((await emails.page(org, { limit: 1, offset: 0 })).total).toBe(1);
  });
});

describe("single members", () => {
  test("are found by id in their organization, in the order of the ids", async () => {
    const [org, other] = [newOrganization(), newOrganization()];
    const known = await fill(org, Array(700).fill(anyGroup));
    const [foreign] = (await fill(other, [anyGroup])) as [Known];
    const ids = known.map((each) => each.id);
    const first = ids[0] as number;
    expect((await emails.get(org, first))?.email).toBe(`person${first}@example.test`);
    expect(await emails.get(other, first)).toBeUndefined();
    const asked = [ids[699], ids[3], ids[2], ids[3], foreign.id, ids[650], ids[100], 2 ** 53 - 1] as number[];
    const found = await emails.getMany(org, asked);
    expect(found.map((each) => each?.id)).toEqual(asked.map((id) => (ids.includes(id) ? id : undefined)));
    // All of them, and two of three, which are ranges; every third, which are not.
    for (const kept of [[0, 1, 2], [0, 2], [1]]) {
      const some = ids.filter((_, index) => kept.includes(index % 3)).toReversed();
      expect((await emails.getMany(org, some)).map((each) => each?.id)).toEqual(some);
    }
    const blocks = emails.blocks(await emails.tally(org));
    expect(blocks).toEqual([...new Set(ids.map(blockOf))]);
    const members: number[] = [];
    for await (const some of emails.membersOf(org, blocks)) members.push(...some.map(({ id }) => id));
    expect(members).toEqual(ids);
    const [block = 0] = blocks;
    const between = await emails.members(org, block, { fromId: first + 2, toId: first + 4 });
    expect(between.map((each) => each.id)).toEqual([first + 2, first + 3, first + 4]);
  });

  test("a change keeps its own condition besides the one on the group", async () => {
    const org = newOrganization();
    const [one] = (await fill(org, [anyGroup])) as [Known];
    const change = (email: string) =>
      emails.writes(org, [
        emails.change(org, one.id, {
          from: anyGroup,
          to: { ...anyGroup, teamId: 7 },
          set: { email: "changed" },
          if: condition("#email = :email", { email }),
        }),
      ]);
    await expect(table.transact(change("wrong"))).rejects.toMatchObject({ failed: [{ index: 0 }] });
    await table.transact(change(`person${one.id}@example.test`));
    const member = await emails.get(org, one.id);
    expect(member).toMatchObject({ email: "changed", group: "1-7-1" });
  });

  test("groups that would have the same group key are refused", () => {
    const words = countedList<{ category: string }>("ACTIVITY", { category: "word" });
    expect(words.groupKeyOf({ category: "api_keys" })).toBe("api_keys");
    expect(() => words.groupKeyOf({ category: "a-b" })).toThrow();
    expect(() => words.groupKeyOf({ category: "from" })).toThrow();
    expect(() => words.groupKeyOf({ category: "" })).toThrow();
  });
});

describe("a filtered page", () => {
  const isActive = ({ isActive }: Group): boolean => isActive;

  const [matching, other] = [anyGroup, { ...anyGroup, isActive: false }];

  /** For each id of a block: a matching member, one that does not match, or no member. */
  const places = fc.integer({ min: 1, max: 99 }).chain((percent) =>
    fc.array(
      fc.nat(99).map((drawn) => (drawn < percent ? matching : drawn % 3 === 0 ? undefined : other)),
      { minLength: blockSize, maxLength: blockSize },
    ),
  );

  test("is what a naive list gives, wherever its members are", async () => {
    const page = fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.nat(1_000) });
    const pages = fc.array(page, { minLength: 12, maxLength: 12 });
    const property = fc.asyncProperty(places, pages, async (block, pages) => {
      const org = newOrganization();
      const model = await fill(org, block);
      const count = model.filter(({ group }) => group.isActive).length;
      for (const { limit, offset } of pages) {
        const query = { limit, offset: offset % (count + 2), since: undefined };
        await check(org, model, { filter: { isActive: true }, ...query });
      }
    });
    await fc.assert(property, { seed, numRuns: Number(process.env.RUNS ?? 3) });
  });

  /** A page of active members; `act` runs before the first query of a block. */
  const pageWhile = async (org: number, offset: number, act: () => Promise<void>): Promise<number[]> => {
    let acted: Promise<void> | undefined;
    const stop = intercept<Command>("initialize", (next, { commandName }) => async (command) => {
      const isOfBlock = JSON.stringify(command.input).includes(`"ORG#${org}#EMAIL#`);
      if (commandName === "QueryCommand" && isOfBlock) {
        acted ??= act();
        await acted;
      }
      return next(command);
    });
    const { items } = await emails.page(org, { matches: isActive, limit: 50, offset });
    stop();
    return items.map(({ id }) => id);
  };

  test("leaves out a member that leaves a block of which all matched", async () => {
    const org = newOrganization();
    const [left, stays] = (await fill(org, [matching, matching])) as [Known, Known];
    const ids = await pageWhile(org, 0, () =>
      table.transact(emails.writes(org, [emails.change(org, left.id, { from: matching, to: other })])),
    );
    expect(ids).toEqual([stays.id]);
  });

  test.each<[which: string, places: [what: string, offset: number, from: number][]]>([
    [
      "three in four",
      [
        ["before it, so that too few are left", 0, 0],
        ["in it", 100, 110],
        ["after it", 100, 150],
        ["on both sides", 100, 60],
      ],
    ],
    ["all, left at the newer end", [["in it", 20, 30]]],
    ["all, left at the older end", [["in it", blockSize - 60, blockSize - 50]]],
  ])("of which members (%s) leave meanwhile is that of the others", async (which, places) => {
    const org = newOrganization();
    const isAll = which !== "three in four";
    const block = Array.from({ length: blockSize }, (_, index) =>
      !isAll && index % 4 === 0 ? other : matching,
    );
    let shown = (await fill(org, block)).filter(({ group }) => group.isActive).reverse();
    for (const [what, offset, from] of places) {
      const leaving = shown.slice(from, from + (isAll ? 1 : 98));
      const ids = await pageWhile(org, offset, async () => {
        // In a block whose members all match, a moved member can be missing from the page; a deleted one
        // cannot.
        const leave = ({ id, group }: Known) =>
          isAll
            ? emails.delete(org, id, group)
            : emails.change(org, id, { from: group, to: { ...group, isActive: false } });
        await table.transact(emails.writes(org, leaving.map(leave)));
      });
      shown = shown.filter((member) => !leaving.includes(member));
      expect(ids, what).toEqual(shown.slice(offset, offset + 50).map(({ id }) => id));
    }
  });
});

test("the cost of a page does not grow with the offset", async () => {
  const org = newOrganization();
  const count = 3 * blockSize;
  await fill(
    org,
    Array.from({ length: count }, (_, index) => ({ ...anyGroup, isActive: index % 2 === 0 })),
  );
  const capacity = recordCapacity();
  const unitsAt = async (offset: number): Promise<number> => {
    expect((await emails.page(org, { limit: 50, offset })).items).toHaveLength(50);
    const { calls, readUnits } = capacity.take();
    expect(calls).toBeLessThanOrEqual(3);
    return readUnits;
  };
  // One unit for the tally. A page of rows of 130 bytes takes 2 or 3, since all ids are of members.
  for (const offset of [0, 1_000, count - 60]) expect(await unitsAt(offset)).toBeLessThanOrEqual(4);
  const filtered = await emails.page(org, { limit: 50, offset: 700, matches: (group) => !group.isActive });
  expect(filtered.total).toBe(count / 2);
  expect(capacity.take().readUnits).toBeLessThanOrEqual(1 + 2 * 20);
});

test("a page of several ranks reads each block once", async () => {
  const list = countedList<Group & { level: number }, Email>("EMAIL", { ...fields, level: "integer" });
  const org = newOrganization();
  const reserved = await reserve(org, "EMAIL", blockSize);
  const members = reserved.map((each, index) => ({ each, group: { ...anyGroup, level: index % 100 } }));
  for (const part of chunk(members, 45)) {
    const writes = part.map(({ each, group }) => list.put(org, each, group, { email: `p${each.id}` }));
    await table.transact(list.writes(org, writes));
  }
  const capacity = recordCapacity();
  const rank = ({ level }: { level: number }): number => level;
  const { items } = await list.page(org, { rank, limit: 50, offset: 5 });
  const { calls, readUnits } = capacity.take();
  expect(items.map((item) => list.groupOf(item).level)).toEqual(
    Array.from({ length: 50 }, (_, place) => 99 - Math.floor((place + 5) / 10)),
  );
  expect(calls).toBe(2);
  // One unit for the tally, and a block of rows of 130 bytes.
  expect(readUnits).toBeLessThanOrEqual(1 + 35);
});
