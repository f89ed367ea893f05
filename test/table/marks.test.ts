import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockOf, blockSize, firstIdOf, type Reserved, reserve } from "../../shared/table/blocks.ts";
import type { MemberWrite } from "../../shared/table/counted-list.ts";
import * as directories from "../../shared/table/directory.ts";
import { type DirectoryRow, rowsOf } from "../../shared/table/directory.ts";
import { keys, marksPrefix } from "../../shared/table/keys.ts";
import { markedIds, markStep } from "../../shared/table/marks.ts";
import { parts } from "../../shared/table/parts.ts";
import { blocksPerRollup, rollUp } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { type Engine, recordCapacity, startEngine } from "./engine.ts";
import { type Command, intercept } from "./intercept.ts";
import { active, disabled, emails, type Facet } from "./teams.ts";

// A rollup marks where in its blocks the members of facets are: pages read rare ones by their ids, others between two marks.

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;
const isDisabled = ({ isActive }: Facet): boolean => !isActive;
const blocks = blocksPerRollup + 2;

const transact = async (org: number, writes: readonly MemberWrite[]): Promise<void> => {
  for (const part of parts(writes, 45)) await table.transact(emails.writes(org, part));
};

/** So many disabled e-mails and active ones in each of 66 blocks, the latter older; ids of both, oldest first. */
const spread = async (each = 1): Promise<{ org: number; disabledIds: number[]; activeIds: number[] }> => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blocks * blockSize);
  const from = (place: number) =>
    all.filter((_, index) => index % blockSize >= place && index % blockSize < place + each);
  const put = (reserved: typeof all, facet: Facet): MemberWrite[] =>
    reserved.map((one) => emails.put(org, one, facet, { email: `${one.id}@example.test` }));
  await transact(org, [...put(from(300), disabled), ...put(from(7), active)]);
  return { org, disabledIds: from(300).map(({ id }) => id), activeIds: from(7).map(({ id }) => id) };
};

const move = (org: number, ids: readonly number[], from: Facet, to: Facet): Promise<void> =>
  transact(
    org,
    ids.map((id) => emails.change(org, id, { from, to })),
  );

type Watch = {
  requests: number;
  blocksRead: number;
  /** Rows of blocks. */
  sent: number;
  before: ((name: string, input: string) => unknown) | undefined;
};

/** What is sent to the table meanwhile; `before` each request. */
const watching = async <T>(watch: Partial<Watch>, act: () => Promise<T>): Promise<T> => {
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    const input = JSON.stringify(sent.input);
    watch.requests = (watch.requests ?? 0) + 1;
    if (commandName === "QueryCommand" && input.includes("#EMAIL#")) {
      watch.blocksRead = (watch.blocksRead ?? 0) + 1;
    }
    await watch.before?.(commandName, input);
    const reply = await next(sent);
    const { Items = [] } = reply.output as { Items?: unknown[] };
    if (input.includes("#EMAIL#")) watch.sent = (watch.sent ?? 0) + Items.length;
    return reply;
  });
  return act().finally(stop);
};

/** A page of disabled e-mails, newest first, and what was sent for it. */
const page = async (org: number, { limit = 50, offset = 0 } = {}) => {
  const { before: _, ...watch }: Watch = { requests: 0, blocksRead: 0, sent: 0, before: undefined };
  const { items, total } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit, offset, attributes: ["email"] }),
  );
  expect(items).toEqual(items.map(({ id }) => ({ id, facet: "1-0", email: `${id}@example.test` })));
  return { ids: items.map(({ id }) => id), total, ...watch };
};

/** The marks of disabled e-mails, block by block, oldest first. */
const told = async (org: number): Promise<(readonly number[] | undefined)[]> =>
  (await blocksOf(org))
    .map(({ block, marks }) => {
      const of = marks.get("1-0");
      return of === undefined ? undefined : markedIds(block, of);
    })
    .reverse();

const blocksOf = async (org: number): Promise<DirectoryRow[]> =>
  rowsOf((await directories.read(org, "EMAIL", { withMarks: true })).directory);

type MarksRow = { pk: string; sk: string; change: number; marks: string };
const marksRows = (org: number): Promise<MarksRow[]> =>
  table.query({ pk: keys.directory(org, "EMAIL", 0).pk, prefix: marksPrefix });

test("a page of members in fifty blocks is two trips and three requests, for a unit for each member", async () => {
  const { org, disabledIds } = await spread();
  const newest = [...disabledIds].reverse();
  expect(await page(org)).toMatchObject({ ids: newest.slice(0, 50), blocksRead: 50 });

  await rollUp(org, "EMAIL");
  // The two newest blocks are not rolled up.
  expect(await page(org)).toMatchObject({
    ids: newest.slice(0, 50),
    total: blocks,
    requests: 4,
    blocksRead: 2,
  });
  const capacity = recordCapacity();
  await directories.read(org, "EMAIL", { withMarks: true });
  const { readUnits: directory } = capacity.take();
  const older = await page(org, { offset: 2 });
  expect(older).toMatchObject({ ids: newest.slice(2, 52), total: blocks, requests: 2, blocksRead: 0 });
  expect(capacity.take().readUnits).toBe(directory + 50);
  expect((await page(org, { limit: 100, offset: 60 })).ids).toEqual(newest.slice(60));
});

test("several facets of a block come in the order of their ids", async () => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blocks * blockSize);
  const ids = all.filter((_, index) => index % 100 === 0);
  await transact(
    org,
    ids.map((one, index) => emails.put(org, one, { team: index % 3, isActive: true }, { email: "a" })),
  );
  await rollUp(org, "EMAIL");
  const of = (teams: number[]) => ids.filter((_, index) => teams.includes(index % 3)).map(({ id }) => id);
  const watch: Partial<Watch> = {};
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: ({ team }) => team !== 1, limit: 100, offset: 20 }),
  );
  expect(items.map(({ id }) => id)).toEqual(of([0, 2]).reverse().slice(20, 120));
  expect(watch.blocksRead).toBeUndefined();
});

test("what was moved since is not told any more, also when as many came as went, until it is rolled up again", async () => {
  const { org, disabledIds, activeIds } = await spread();
  await rollUp(org, "EMAIL");
  expect((await told(org)).slice(0, 64)).toEqual(disabledIds.slice(0, 64).map((id) => [id]));

  // One goes, one comes, in one transaction, in twelve blocks.
  for (const index of Array.from({ length: 12 }, (_, index) => 3 * index)) {
    await transact(org, [
      emails.change(org, disabledIds[index] ?? 0, { from: disabled, to: active }),
      emails.change(org, activeIds[index] ?? 0, { from: active, to: disabled }),
    ]);
  }
  const now = disabledIds.map((id, index) => (index < 36 && index % 3 === 0 ? (activeIds[index] ?? 0) : id));
  const isTold = (index: number) => index < 64 && (index >= 36 || index % 3 !== 0);
  expect(await told(org)).toEqual(now.map((id, index) => (isTold(index) ? [id] : undefined)));
  expect(await page(org, { offset: 20 })).toMatchObject({
    ids: now.toReversed().slice(20, 70),
    blocksRead: 12,
  });

  const watch: Partial<Watch> = {};
  await watching(watch, () => rollUp(org, "EMAIL"));
  // The others are known.
  expect(watch.blocksRead).toBe(12);
  expect((await told(org)).slice(0, 64)).toEqual(now.slice(0, 64).map((id) => [id]));
  expect(await page(org, { offset: 20 })).toMatchObject({
    ids: now.toReversed().slice(20, 70),
    blocksRead: 0,
  });
});

test("what moves between the directory and the members is missing from the page, and nothing else is", async () => {
  const { org, disabledIds } = await spread();
  await rollUp(org, "EMAIL");
  const [gone = 0, deleted = 0] = disabledIds.slice(20, 22);
  const before = async (name: string): Promise<void> => {
    if (name !== "BatchGetItemCommand") return;
    watch.before = undefined;
    await move(org, [gone], disabled, active);
    await transact(org, [emails.delete(org, deleted, disabled)]);
  };
  const watch: Partial<Watch> = { before };
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit: 50, offset: 5 }),
  );
  const expected = disabledIds.toReversed().slice(5, 55);
  expect(items.map(({ id }) => id)).toEqual(expected.filter((id) => id !== gone && id !== deleted));
  expect((await page(org, { offset: 5 })).ids).toEqual(
    disabledIds
      .filter((id) => id !== gone && id !== deleted)
      .reverse()
      .slice(5, 55),
  );
});

test("a block that is written to while members are read for a rollup is read again, and only it", async () => {
  const { org, disabledIds } = await spread();
  const victim = disabledIds[9] ?? 0;
  const watch: Partial<Watch> = {
    before: async (name, input) => {
      // After that block's members were read.
      if (name !== "QueryCommand" || !input.includes(`#EMAIL#${blockOf(disabledIds[40] ?? 0)}"`)) return;
      watch.before = undefined;
      await move(org, [victim], disabled, active);
    },
  };
  await watching(watch, () => rollUp(org, "EMAIL"));
  expect(watch.before).toBeUndefined();
  expect(watch.blocksRead).toBe(blocksPerRollup + 1);
  const left = disabledIds.filter((id) => id !== victim);
  const markedOf = (id: number) => (id === victim ? undefined : [id]);
  expect((await told(org)).slice(0, blocksPerRollup)).toEqual(
    disabledIds.slice(0, blocksPerRollup).map(markedOf),
  );
  expect((await page(org, { limit: 100 })).ids).toEqual(left.reverse());
});

test.each([
  ["are lost", (row: MarksRow) => table.remove(row)],
  [
    "are those of an earlier change",
    // As if the others had been the disabled ones: places 7 and 8 for 300 and 301.
    (row: MarksRow) => table.put({ ...row, change: 0, marks: row.marks.replaceAll("8d8c", "0807") }),
  ],
])("a rollup whose ids %s is read block by block, and tells them once it changes", async (_, damage) => {
  const { org, disabledIds, activeIds } = await spread(2);
  await rollUp(org, "EMAIL");
  const [row] = await marksRows(org);
  if (row === undefined) throw new Error("nothing was rolled up");
  await damage(row);
  const newest = disabledIds.toReversed();
  expect(await page(org, { offset: 4 })).toMatchObject({ ids: newest.slice(4, 54), blocksRead: 25 });

  const watch: Partial<Watch> = {
    before: async (name, input) => {
      // A block that has not changed is read too; now it does, after that.
      if (name !== "QueryCommand" || !input.includes(`#EMAIL#${blockOf(disabledIds[0] ?? 0)}"`)) return;
      watch.before = undefined;
      await move(org, [activeIds[80] ?? 0], active, disabled);
    },
  };
  const moved = activeIds.slice(0, 40).filter((_, index) => index % 2 === 0);
  await move(org, moved, active, disabled);
  await watching(watch, () => rollUp(org, "EMAIL"));
  expect(watch.before).toBeUndefined();
  const all = [...disabledIds, ...moved, activeIds[80] ?? 0].sort((one, other) => other - one);
  const [one, other] = [await page(org, { limit: 100 }), await page(org, { limit: 100, offset: 100 })];
  expect([...one.ids, ...other.ids]).toEqual(all);
  // The two that are not rolled up, and the one that has changed.
  expect(one.blocksRead + other.blocksRead).toBe(3);
});

test("marks that a later change replaced while the directory was read are not taken for those of the earlier one", async () => {
  const { org, disabledIds, activeIds } = await spread(2);
  await rollUp(org, "EMAIL");
  const some = Array.from({ length: 12 }, (_, index) => 2 * index);
  await move(
    org,
    some.map((index) => disabledIds[index] ?? 0),
    disabled,
    active,
  );
  let changed = 0;
  // The query ends before the marks, is asked for the rest, and meanwhile all is rolled up.
  const stop = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
    const input = sent.input as { ExclusiveStartKey?: { sk: { S: string } } };
    const isDirectory = JSON.stringify(input).includes('#EMAIL"');
    if (commandName !== "QueryCommand" || !isDirectory || changed > 1) return next(sent);
    if (input.ExclusiveStartKey !== undefined) {
      changed = 2;
      await move(
        org,
        some.map((index) => activeIds[index] ?? 0),
        active,
        disabled,
      );
      await rollUp(org, "EMAIL");
      return next(sent);
    }
    const reply = await next(sent);
    const output = reply.output as { Items: { pk: object; sk: { S: string } }[]; LastEvaluatedKey?: object };
    const Items = output.Items.filter(({ sk }) => !sk.S.startsWith(marksPrefix));
    const { pk, sk } = Items.at(-1) ?? {};
    changed = 1;
    return { ...reply, output: { ...output, Items, LastEvaluatedKey: { pk, sk } } };
  });
  const { items, total } = await emails.page(org, { matches: isDisabled, limit: 100, offset: 20 });
  stop();
  expect(changed).toBe(2);
  // What was moved in between can be missing; nothing else is.
  const before = disabledIds.filter((id) => !some.some((index) => disabledIds[index] === id));
  expect(total).toBe(before.length);
  expect(items.map(({ id }) => id)).toEqual(before.toReversed().slice(20));
});

test("a rollup stays small: of a facet 16 marks, of a block 32, of the rarest facets", async () => {
  const { org, disabledIds } = await spread(16);
  await rollUp(org, "EMAIL");
  expect((await told(org))[0]).toEqual(disabledIds.slice(0, 16).reverse());
  const [{ marks } = { marks: "" }] = await marksRows(org);
  expect(marks.length).toBeLessThan(blocksPerRollup * 32 * 2 + 200);

  const more = await spread(17);
  await rollUp(more.org, "EMAIL");
  const everySecond = more.disabledIds.slice(0, 17).filter((_, index) => index % 2 === 0);
  expect((await told(more.org))[0]).toEqual(everySecond.reverse());
  expect((await page(more.org)).ids).toEqual(more.disabledIds.toReversed().slice(0, 50));

  const many = ++organizations;
  const all = await reserve(many, "EMAIL", 3 * blockSize);
  const some = all.filter((_, index) => index % blockSize < 49);
  const teams = some.map((_, index) => Math.floor(Math.sqrt(index % 49)));
  await transact(
    many,
    some.map((one, index) =>
      emails.put(many, one, { team: teams[index] ?? 0, isActive: true }, { email: "a" }),
    ),
  );
  await rollUp(many, "EMAIL");
  const oldest = (await blocksOf(many)).at(-1);
  expect([...(oldest?.marks ?? [])].map(([facet, of]) => [facet, of.length / 2])).toEqual([
    ["0-1", 1],
    ["1-1", 3],
    ["2-1", 5],
    ["3-1", 7],
    ["4-1", 9],
  ]);
});

/** Three blocks, of which two are rolled up; each id of the oldest is a disabled e-mail, an active one or none. */
const oneBlock = async (ids: readonly ("disabled" | "active" | "none")[]) => {
  const org = ++organizations;
  const [first, second, third] = parts(await reserve(org, "EMAIL", 3 * blockSize), blockSize);
  const used = [...(first?.filter((_, index) => ids[index] !== "none") ?? []), second?.[0], third?.[0]];
  const isOff = (reserved: Reserved) =>
    reserved.block === first?.[0]?.block && ids[reserved.id - firstIdOf(reserved.block)] === "disabled";
  const members = used.filter((each) => each !== undefined);
  await transact(
    org,
    members.map((one) =>
      emails.put(org, one, isOff(one) ? disabled : active, { email: `${one.id}@example.test` }),
    ),
  );
  await rollUp(org, "EMAIL");
  return { org, disabledIds: members.filter(isOff).map(({ id }) => id) };
};

test("a page of a block with many members is read between two marks, in one request and with few rows more", async () => {
  const kinds = fc.integer({ min: 1, max: 99 }).chain((percent) =>
    fc.array(
      fc.nat(99).map((drawn) => (drawn < percent ? "disabled" : drawn % 3 === 0 ? "none" : "active")),
      { minLength: blockSize, maxLength: blockSize },
    ),
  );
  const pages = fc.array(fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.nat(1_000) }), {
    minLength: 10,
    maxLength: 10,
  });
  let dense = 0;
  const property = fc.asyncProperty(kinds, pages, async (ids, pages) => {
    const { org, disabledIds } = await oneBlock(ids);
    const newest = disabledIds.toReversed();
    for (const { limit, offset } of pages) {
      const start = offset % (newest.length + 2);
      const read = await page(org, { limit, offset: start });
      expect(read).toMatchObject({ ids: newest.slice(start, start + limit), total: newest.length });
      if (newest.length > 448 || start >= newest.length) continue;
      expect(read.requests).toBe(2);
      if (newest.length <= 16) continue;
      dense++;
      expect(read.sent).toBeLessThanOrEqual(read.ids.length + 2 * (markStep(newest.length) - 1));
    }
  });
  await fc.assert(property, {
    seed: Number(process.env.SEED ?? 20_300_101),
    numRuns: Number(process.env.RUNS ?? 12),
  });
  expect(dense).toBeGreaterThan(50);
}, 120_000);

test("of a full block in which few do not match, exactly the page is read", async () => {
  const others = [3, 4, 77, 300, 510];
  const { org, disabledIds } = await oneBlock(
    Array.from({ length: blockSize }, (_, index) => (others.includes(index) ? "active" : "disabled")),
  );
  const newest = disabledIds.toReversed();
  for (const [offset, limit] of [
    [0, 50],
    [200, 100],
    [207, 1],
    [410, 100],
    [500, 10],
  ] as const) {
    const read = await page(org, { limit, offset });
    expect(read).toMatchObject({ ids: newest.slice(offset, offset + limit), requests: 2 });
    // The page, and those that do not match are not sent.
    expect(read.sent).toBe(read.ids.length);
  }
  // Half a read unit would be an eventually consistent one; the rows are of 100 bytes.
  const capacity = recordCapacity();
  await page(org, { offset: 300 });
  expect(capacity.take().readUnits).toBeLessThanOrEqual(1 + 3);
});

test("members that move away between two marks while the page is read do not shorten it", async () => {
  const { org, disabledIds } = await oneBlock(
    Array.from({ length: blockSize }, (_, index) => (index % 2 === 0 ? "disabled" : "active")),
  );
  const gone = disabledIds.toReversed().slice(60, 90);
  const watch: Partial<Watch> = {
    before: async (name, input) => {
      if (name !== "QueryCommand" || !input.includes("#EMAIL#")) return;
      watch.before = undefined;
      await move(org, gone, disabled, active);
    },
  };
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit: 50, offset: 50 }),
  );
  expect(watch.before).toBeUndefined();
  const left = disabledIds.filter((id) => !gone.includes(id)).reverse();
  expect(items.map(({ id }) => id)).toEqual(left.slice(50, 100));
});
