import { afterAll, beforeAll, expect, test } from "vitest";
import { blockOf, blockSize, reserve } from "../../shared/table/blocks.ts";
import type { MemberWrite } from "../../shared/table/counted-list.ts";
import { countedList } from "../../shared/table/counted-list.ts";
import * as directories from "../../shared/table/directory.ts";
import { type DirectoryRow, rowsOf } from "../../shared/table/directory.ts";
import { keys, rareIdsPrefix } from "../../shared/table/keys.ts";
import { parts } from "../../shared/table/parts.ts";
import { blocksPerRollup, rollUp } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { type Engine, recordCapacity, startEngine } from "./engine.ts";
import { type Command, intercept } from "./intercept.ts";

// Where few members of a block have a facet, a rollup tells which these are, and pages read them alone.

type Facet = { team: number; isActive: boolean };
const emails = countedList<Facet, { email: string }>("EMAIL", { team: "integer", isActive: "boolean" });

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;
const active = { team: 1, isActive: true };
const disabled = { team: 1, isActive: false };
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
    return next(sent);
  });
  return act().finally(stop);
};

/** A page of disabled e-mails, newest first. */
const page = async (
  org: number,
  { limit = 50, offset = 0, ...watch }: Partial<Watch> & { limit?: number; offset?: number } = {},
) => {
  const { items, total } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit, offset, attributes: ["email"] }),
  );
  expect(items).toEqual(items.map(({ id }) => ({ id, facet: "1-0", email: `${id}@example.test` })));
  return {
    ids: items.map(({ id }) => id),
    total,
    requests: watch.requests,
    blocksRead: watch.blocksRead ?? 0,
  };
};

/** What the directory tells of disabled e-mails, block by block, oldest first. */
const told = async (org: number): Promise<(readonly number[] | undefined)[]> =>
  (await blocksOf(org)).map(({ ids }) => ids.get("1-0")).reverse();

const blocksOf = async (org: number): Promise<DirectoryRow[]> =>
  rowsOf((await directories.read(org, "EMAIL", { withIds: true })).directory);

type IdsRow = { pk: string; sk: string; change: number; ids: string };
const idsRows = (org: number): Promise<IdsRow[]> =>
  table.query({ pk: keys.directory(org, "EMAIL", 0).pk, prefix: rareIdsPrefix });

test("a page of members in fifty blocks is two trips and three requests, for a unit for each member", async () => {
  const { org, disabledIds } = await spread();
  const newest = [...disabledIds].reverse();
  expect(await page(org)).toMatchObject({ ids: newest.slice(0, 50), blocksRead: 50 });

  await rollUp(org, "EMAIL");
  // The two newest blocks are not rolled up.
  expect(await page(org)).toEqual({ ids: newest.slice(0, 50), total: blocks, requests: 4, blocksRead: 2 });
  const capacity = recordCapacity();
  await directories.read(org, "EMAIL", { withIds: true });
  const { readUnits: directory } = capacity.take();
  const older = await page(org, { offset: 2 });
  expect(older).toEqual({ ids: newest.slice(2, 52), total: blocks, requests: 2, blocksRead: 0 });
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

test("who writes to a block while its members are read for a rollup makes it stop", async () => {
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
  expect(await idsRows(org)).toEqual([]);
  expect(await told(org)).toEqual(Array.from({ length: blocks }));
  await rollUp(org, "EMAIL");
  const left = disabledIds.filter((id) => id !== victim);
  expect((await page(org, { limit: 100 })).ids).toEqual(left.reverse());
});

test.each([
  ["are lost", (row: IdsRow) => table.remove(row)],
  ["are those of an earlier change", (row: IdsRow) => table.put({ ...row, change: 0, ids: "1-0=0:00" })],
])("a rollup whose ids %s is read block by block, and tells them once it changes", async (_, damage) => {
  const { org, disabledIds, activeIds } = await spread(2);
  await rollUp(org, "EMAIL");
  const [row] = await idsRows(org);
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

test("members that are many in their block are not told: a rollup stays small", async () => {
  const { org } = await spread(16);
  await rollUp(org, "EMAIL");
  expect((await told(org))[0]).toHaveLength(16);
  const [{ ids = "" } = {}] = await idsRows(org);
  expect(ids.length).toBeLessThan(blocksPerRollup * 32 * 2 + 200);

  const more = await spread(17);
  await rollUp(more.org, "EMAIL");
  expect(await told(more.org)).toEqual(Array.from({ length: blocks }));
  expect((await page(more.org)).ids).toEqual(more.disabledIds.toReversed().slice(0, 50));

  // Of many rare facets the rarest, 32 members in all.
  const org3 = ++organizations;
  const all = await reserve(org3, "EMAIL", (blocksPerRollup + 1) * blockSize);
  const some = all.filter((_, index) => index % blockSize < 49);
  const teams = some.map((_, index) => Math.floor(Math.sqrt(index % 49)));
  await transact(
    org3,
    some.map((one, index) =>
      emails.put(org3, one, { team: teams[index] ?? 0, isActive: true }, { email: "a" }),
    ),
  );
  await rollUp(org3, "EMAIL");
  const oldest = (await blocksOf(org3)).at(-1);
  expect([...(oldest?.ids ?? [])].map(([facet, ids]) => [facet, ids.length])).toEqual([
    ["0-1", 1],
    ["1-1", 3],
    ["2-1", 5],
    ["3-1", 7],
    ["4-1", 9],
  ]);
});
