/** Pages of rare members: they are read by their ids, which are noted when blocks are folded. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { keys, rarePrefix } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, blockSize, firstIdOf, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { compact } from "../../shared/lists/compact.ts";
import * as directories from "../../shared/lists/directory.ts";
import { rareGroups } from "../../shared/lists/rare.ts";
import { type Engine, recordCapacity, startEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import { active, disabled, emails, type Group, move, transact } from "./teams.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;
const isDisabled = ({ isActive }: Group): boolean => !isActive;

/** Of 66 blocks, 64 are folded. */
const blocks = 66;

/**
 * Blocks with as many disabled e-mails as active ones, the active ones older. Returns both kinds of ids,
 * oldest first.
 */
const spread = async (each = 1): Promise<{ org: number; disabledIds: number[]; activeIds: number[] }> => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blocks * blockSize);
  const from = (place: number) =>
    all.filter((_, index) => index % blockSize >= place && index % blockSize < place + each);
  const put = (reserved: Reserved[], group: Group) =>
    reserved.map((one) => emails.put(org, one, group, { email: `${one.id}@example.test` }));
  await transact(org, [...put(from(300), disabled), ...put(from(7), active)]);
  return { org, disabledIds: from(300).map(({ id }) => id), activeIds: from(7).map(({ id }) => id) };
};

type Watch = {
  requests: number;
  /** Queries of blocks. */
  blocksRead: number;
  before: ((name: string, input: string) => unknown) | undefined;
};

/** Counts what is sent to the table while `act` runs; calls `before` before each request. */
const watching = async <T>(watch: Partial<Watch>, act: () => Promise<T>): Promise<T> => {
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    const input = JSON.stringify(sent.input);
    watch.requests = (watch.requests ?? 0) + 1;
    if (commandName === "QueryCommand" && input.includes("#EMAIL#")) {
      watch.blocksRead = (watch.blocksRead ?? 0) + 1;
    }
    await watch.before?.(commandName, input);
    return next(sent);
  });
  return act().finally(stop);
};

/** A page of disabled e-mails, newest first, and the requests that were sent for it. */
const page = async (org: number, { limit = 50, offset = 0 } = {}) => {
  const { before: _, ...watch }: Watch = { requests: 0, blocksRead: 0, before: undefined };
  const { items, total } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit, offset, attributes: ["email"] }),
  );
  expect(items).toEqual(items.map(({ id }) => ({ id, group: "1-0", email: `${id}@example.test` })));
  return { ids: items.map(({ id }) => id), total, ...watch };
};

/** The ids of disabled e-mails that the directory names, block by block, oldest first. */
const told = async (org: number): Promise<(readonly number[] | undefined)[]> =>
  directories
    .blocksIn(await directories.read(org, "EMAIL", { withRare: true }))
    .map(({ rare }) => rare.get("1-0"))
    .reverse();

test("a page of members in fifty blocks takes two requests, and one unit per member", async () => {
  const { org, disabledIds } = await spread();
  const newest = disabledIds.toReversed();
  expect(await page(org)).toMatchObject({ ids: newest.slice(0, 50), blocksRead: 50 });

  await compact(org, "EMAIL");
  // The two newest blocks are not folded.
  expect(await page(org)).toMatchObject({
    ids: newest.slice(0, 50),
    total: blocks,
    requests: 4,
    blocksRead: 2,
  });
  const capacity = recordCapacity();
  await directories.read(org, "EMAIL", { withRare: true });
  const { readUnits: directory } = capacity.take();
  const older = await page(org, { offset: 2 });
  expect(older).toMatchObject({ ids: newest.slice(2, 52), total: blocks, requests: 2, blocksRead: 0 });
  expect(capacity.take().readUnits).toBe(directory + 50);
  expect((await page(org, { limit: 100, offset: 60 })).ids).toEqual(newest.slice(60));
});

test("members of several groups of a block come in the order of their ids", async () => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blocks * blockSize);
  const some = all.filter((_, index) => index % 100 === 0);
  await transact(
    org,
    some.map((one, index) => emails.put(org, one, { team: index % 3, isActive: true }, { email: "a" })),
  );
  await compact(org, "EMAIL");
  const of = (teams: number[]) => some.filter((_, index) => teams.includes(index % 3)).map(({ id }) => id);
  const watch: Partial<Watch> = {};
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: ({ team }) => team !== 1, limit: 100, offset: 20 }),
  );
  expect(items.map(({ id }) => id)).toEqual(of([0, 2]).reverse().slice(20, 120));
  expect(watch.blocksRead).toBeUndefined();
});

test("noted ids are ignored after members moved, until the move is folded", async () => {
  const { org, disabledIds, activeIds } = await spread();
  await compact(org, "EMAIL");
  expect((await told(org)).slice(0, 64)).toEqual(disabledIds.slice(0, 64).map((id) => [id]));

  // In each of twelve blocks, one member of the group leaves and another one comes, in one transaction.
  for (const index of Array.from({ length: 12 }, (_, index) => 3 * index)) {
    await transact(org, [
      emails.change(org, disabledIds[index] ?? 0, { from: disabled, to: active }),
      emails.change(org, activeIds[index] ?? 0, { from: active, to: disabled }),
    ]);
  }
  const now = disabledIds.map((id, index) => (index < 36 && index % 3 === 0 ? (activeIds[index] ?? 0) : id));
  const isTold = (index: number) => index < 64 && (index >= 36 || index % 3 !== 0);
  expect(await told(org)).toEqual(now.map((id, index) => (isTold(index) ? [id] : undefined)));
  const expected = now.toReversed().slice(20, 70);
  expect(await page(org, { offset: 20 })).toMatchObject({ ids: expected, blocksRead: 12 });

  const watch: Partial<Watch> = {};
  await watching(watch, () => compact(org, "EMAIL"));
  // Only blocks whose members have moved are read again.
  expect(watch.blocksRead).toBe(12);
  expect((await told(org)).slice(0, 64)).toEqual(now.slice(0, 64).map((id) => [id]));
  expect(await page(org, { offset: 20 })).toMatchObject({ ids: expected, blocksRead: 0 });
});

test("only members that move between the two trips are missing from the page", async () => {
  const { org, disabledIds } = await spread();
  await compact(org, "EMAIL");
  const [gone = 0, deleted = 0] = disabledIds.slice(20, 22);
  const watch: Partial<Watch> = {
    before: async (name) => {
      if (name !== "BatchGetItemCommand") return;
      watch.before = undefined;
      await move(org, [gone], disabled, active);
      await transact(org, [emails.delete(org, deleted, disabled)]);
    },
  };
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit: 50, offset: 5 }),
  );
  const expected = disabledIds.toReversed().slice(5, 55);
  expect(items.map(({ id }) => id)).toEqual(expected.filter((id) => id !== gone && id !== deleted));
  const left = disabledIds.filter((id) => id !== gone && id !== deleted).reverse();
  expect((await page(org, { offset: 5 })).ids).toEqual(left.slice(5, 55));
});

test("ids that are read while their block is written to are not believed", async () => {
  const { org, disabledIds } = await spread();
  const victim = disabledIds[9] ?? 0;
  const watch: Partial<Watch> = {
    before: async (name, input) => {
      // By now the members of the victim's block have been read.
      if (name !== "QueryCommand" || !input.includes(`#EMAIL#${blockOf(disabledIds[40] ?? 0)}"`)) return;
      watch.before = undefined;
      await move(org, [victim], disabled, active);
    },
  };
  await watching(watch, () => compact(org, "EMAIL"));
  expect(watch.before).toBeUndefined();
  const expected = disabledIds.slice(0, 64).map((id) => (id === victim ? undefined : [id]));
  expect((await told(org)).slice(0, 64)).toEqual(expected);
  expect((await page(org, { limit: 100 })).ids).toEqual(disabledIds.filter((id) => id !== victim).reverse());
});

type RareRow = { pk: string; sk: string; number: number; ids: string };

test.each([
  ["are lost", (row: RareRow) => table.remove(row)],
  ["are those of an earlier change", (row: RareRow) => table.put({ ...row, number: 0 })],
])("a fold whose ids %s is read block by block, until it is written again", async (_, damage) => {
  const { org, disabledIds, activeIds } = await spread(2);
  await compact(org, "EMAIL");
  const [row] = await table.query<RareRow>({ pk: keys.directory(org, "EMAIL", 0).pk, prefix: rarePrefix });
  if (row === undefined) throw new Error("nothing was folded");
  await damage(row);
  const newest = disabledIds.toReversed();
  expect(await page(org, { offset: 4 })).toMatchObject({ ids: newest.slice(4, 54), blocksRead: 25 });

  const moved = activeIds.slice(0, 40).filter((_, index) => index % 2 === 0);
  await move(org, moved, active, disabled);
  await compact(org, "EMAIL");
  const all = [...disabledIds, ...moved].sort((one, other) => other - one);
  const [one, other] = [await page(org, { limit: 100 }), await page(org, { limit: 100, offset: 100 })];
  expect([...one.ids, ...other.ids]).toEqual(all);
  // The two blocks that are not folded.
  expect(one.blocksRead + other.blocksRead).toBe(2);
});

test("all ids of a group with up to 16 members in a block are noted, else none", async () => {
  const { org, disabledIds } = await spread(16);
  await compact(org, "EMAIL");
  expect((await told(org))[0]).toEqual(disabledIds.slice(0, 16).reverse());
  const more = await spread(17);
  await compact(more.org, "EMAIL");
  expect((await told(more.org))[0]).toBeUndefined();
  expect((await page(more.org)).ids).toEqual(more.disabledIds.toReversed().slice(0, 50));
  expect(
    rareGroups(
      new Map([
        ["a", 16],
        ["b", 17],
        ["c", 0],
        ["d", 1],
      ]),
    ),
  ).toEqual(["d", "a"]);
  // Up to 64 ids of a block are noted, those of the rarest groups.
  const many = Array.from({ length: 12 }, (_, index) => [`${index}`, index + 1] as const);
  expect(rareGroups(new Map(many))).toEqual(many.slice(0, 10).map(([name]) => name));
});

test("in a full block in which few do not match, little more than the page is read", async () => {
  const org = ++organizations;
  const others = [3, 4, 77, 300, 510];
  const all = await reserve(org, "EMAIL", 3 * blockSize);
  const used = [...all.slice(0, blockSize), all[blockSize], all[2 * blockSize]].filter(
    (one) => one !== undefined,
  );
  const isOn = ({ id, block }: Reserved) =>
    others.includes(id - firstIdOf(block)) || block !== used[0]?.block;
  await transact(
    org,
    used.map((one) =>
      emails.put(org, one, isOn(one) ? active : disabled, { email: `${one.id}@example.test` }),
    ),
  );
  await compact(org, "EMAIL");
  const newest = used
    .filter((one) => !isOn(one))
    .map(({ id }) => id)
    .reverse();
  for (const [offset, limit] of [
    [0, 50],
    [200, 100],
    [207, 1],
    [410, 100],
    [500, 10],
  ] as const) {
    const read = await page(org, { limit, offset });
    expect(read).toMatchObject({ ids: newest.slice(offset, offset + limit), requests: 2 });
  }
});
