/** Pages of rare members: they are read by the ids that notes name. */
import { expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, blockSize, firstIdOf, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { countedList } from "../../shared/lists/counted-list.ts";
import * as directories from "../../shared/lists/directory.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { rareGroups, refresh, rowOfBlock } from "../../shared/lists/notes.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";

useEngine();

type Group = { team: number; isActive: boolean };
const emails = countedList<Group, { email: string }>("EMAIL", { team: "integer", isActive: "boolean" });

const active: Group = { team: 1, isActive: true };
const disabled: Group = { team: 1, isActive: false };

const transact = async (org: number, writes: readonly MemberWrite[]): Promise<void> => {
  for (const part of chunk(writes, 45)) await table.transact(emails.writes(org, part));
};

const move = (org: number, ids: readonly number[], from: Group, to: Group): Promise<void> =>
  transact(
    org,
    ids.map((id) => emails.change(org, id, { from, to })),
  );

let organizations = 0;
const isDisabled = ({ isActive }: Group): boolean => !isActive;

/** All but the newest are noted. */
const blocks = 66;

/**
 * Blocks with as many disabled e-mails as active ones, the active ones older. Returns both kinds of ids,
 * oldest first.
 */
const spread = async (
  each = 1,
  blockCount = blocks,
): Promise<{ org: number; disabledIds: number[]; activeIds: number[] }> => {
  const org = ++organizations;
  const all = await reserve(org, "EMAIL", blockCount * blockSize);
  const from = (place: number) =>
    all.filter((_, index) => index % blockSize >= place && index % blockSize < place + each);
  const put = (reserved: Reserved[], group: Group) =>
    reserved.map((one) => emails.put(org, one, group, { email: `${one.id}@example.test` }));
  await transact(org, [...put(from(300), disabled), ...put(from(7), active)]);
  return { org, disabledIds: from(300).map(({ id }) => id), activeIds: from(7).map(({ id }) => id) };
};

/** Blocks with one disabled and one active e-mail each, which are noted. */
const spreadAndNoted = async () => {
  const seeded = await spread();
  await refresh(seeded.org, "EMAIL");
  return seeded;
};

type Watch = {
  requests: number;
  /** Queries of blocks. */
  blocksRead: number;
  before: ((name: string, input: string) => unknown) | undefined;
};

/** Counts the requests to the table while `act` runs; calls `before` before each. */
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

/** The ids of disabled e-mails that notes name, block by block, oldest first. */
const noted = async (org: number): Promise<(readonly number[] | undefined)[]> =>
  (await directories.read(org, "EMAIL", { withNotes: true }))
    .map(({ block, note }) => note?.places["1-0"]?.map((place) => firstIdOf(block) + place))
    .reverse();

test("a page of members in fifty blocks takes two trips, in which it alone is sent", async () => {
  const { org, disabledIds } = await spread();
  let [inFlight, most, sent] = [0, 0, 0];
  const stop = intercept<Command>("initialize", (next) => async (command) => {
    most = Math.max(most, ++inFlight);
    const reply = await next(command).finally(() => inFlight--);
    sent += (reply.output as { Count?: number }).Count ?? 0;
    return reply;
  });
  const joined: Group[] = [];
  const join = async (groups: Group[]) => joined.push(...groups);
  const { items } = await emails.page(org, { matches: isDisabled, limit: 50, offset: 3, join });
  stop();
  expect(items.map(({ id }) => id)).toEqual(disabledIds.toReversed().slice(3, 53));
  expect([most, sent]).toEqual([50, 50 + blocks]);
  expect(joined).toEqual([disabled]);
});

test("noted, it takes two requests, and one unit per member", async () => {
  const { org, disabledIds } = await spread();
  const newest = disabledIds.toReversed();
  expect(await page(org)).toMatchObject({ ids: newest.slice(0, 50), requests: 51, blocksRead: 50 });

  await refresh(org, "EMAIL");
  expect(await page(org)).toMatchObject({
    ids: newest.slice(0, 50),
    total: blocks,
    requests: 3,
    blocksRead: 1,
  });
  const capacity = recordCapacity();
  await directories.read(org, "EMAIL", { withNotes: true });
  const { readUnits: directory } = capacity.take();
  const older = await page(org, { offset: 1 });
  expect(older).toMatchObject({ ids: newest.slice(1, 51), total: blocks, requests: 2, blocksRead: 0 });
  expect(capacity.take().readUnits).toBe(directory + 50);
  expect((await page(org, { limit: 100, offset: 60 })).ids).toEqual(newest.slice(60));
});

test("a page without a filter does not read notes", async () => {
  const { org } = await spread(8);
  await refresh(org, "EMAIL");
  const capacity = recordCapacity();
  const [newest] = await directories.read(org, "EMAIL");
  const { readUnits } = capacity.take();
  expect(newest?.note).toBeUndefined();
  await directories.read(org, "EMAIL", { withNotes: true });
  expect(capacity.take().readUnits).toBeGreaterThan(readUnits);
});

test("a block whose group has got another member is read, until it is noted again", async () => {
  const { org, disabledIds, activeIds } = await spreadAndNoted();
  expect((await noted(org)).slice(0, -1)).toEqual(disabledIds.slice(0, -1).map((id) => [id]));

  // In each of twelve blocks, one member of the group leaves and another one comes, in one transaction.
  for (const index of Array.from({ length: 12 }, (_, index) => 3 * index)) {
    await transact(org, [
      emails.change(org, disabledIds[index] ?? 0, { from: disabled, to: active }),
      emails.change(org, activeIds[index] ?? 0, { from: active, to: disabled }),
    ]);
  }
  const now = disabledIds.map((id, index) => (index < 36 && index % 3 === 0 ? (activeIds[index] ?? 0) : id));
  const expected = now.toReversed().slice(20, 70);
  expect(await page(org, { offset: 20 })).toMatchObject({ ids: expected, blocksRead: 12 });

  const watch: Partial<Watch> = {};
  await watching(watch, () => refresh(org, "EMAIL"));
  // Only blocks that were written to are read again.
  expect(watch.blocksRead).toBe(12);
  expect(await page(org, { offset: 20 })).toMatchObject({ ids: expected, blocksRead: 0 });
});

test("when members move between the two trips of a page, others take their places", async () => {
  const { org, disabledIds, activeIds } = await spreadAndNoted();
  const [gone = 0, deleted = 0, replaced = 0] = disabledIds.slice(20, 23);
  const watch: Partial<Watch> = {
    before: async (name) => {
      if (name !== "BatchGetItemCommand") return;
      watch.before = undefined;
      await move(org, [gone], disabled, active);
      await transact(org, [emails.delete(org, deleted, disabled)]);
      await move(org, [replaced], disabled, active);
      await move(org, [activeIds[22] ?? 0], active, disabled);
    },
  };
  const { items } = await watching(watch, () =>
    emails.page(org, { matches: isDisabled, limit: 50, offset: 5 }),
  );
  const now = disabledIds.map((id) => (id === replaced ? (activeIds[22] ?? 0) : id)).reverse();
  const expected = now.slice(5, 55).filter((id) => id !== gone && id !== deleted);
  expect(items.map(({ id }) => id)).toEqual(expected);
});

test.each([
  ["before its members are read", (block: number) => ["Query", `#EMAIL#${block}"`]],
  ["after that", (block: number) => ["Put", keys.notes(0, "EMAIL", rowOfBlock(block)).sk]],
] as const)("a note whose block changes %s leads to no wrong page", async (_, requestFor) => {
  const { org, disabledIds, activeIds } = await spread();
  const [goes = 0, comes = 0] = [disabledIds[9], activeIds[9]];
  const [command = "", part = ""] = requestFor(blockOf(goes));
  const watch: Partial<Watch> = {
    before: async (name, input) => {
      if (!name.startsWith(command) || !input.includes(part)) return;
      watch.before = undefined;
      await transact(org, [
        emails.change(org, goes, { from: disabled, to: active }),
        emails.change(org, comes, { from: active, to: disabled }),
      ]);
    },
  };
  await watching(watch, () => refresh(org, "EMAIL"));
  expect(watch.before).toBeUndefined();
  const now = disabledIds.map((id) => (id === goes ? comes : id)).reverse();
  expect((await page(org, { limit: 100 })).ids).toEqual(now);
  await refresh(org, "EMAIL");
  expect(await page(org, { limit: 100, offset: 1 })).toMatchObject({ ids: now.slice(1), blocksRead: 0 });
});

test("lost notes cost read units, until their blocks are noted again", async () => {
  const { org, disabledIds } = await spreadAndNoted();
  for (const id of disabledIds) await table.remove(keys.notes(org, "EMAIL", rowOfBlock(blockOf(id))));
  const ids = disabledIds.toReversed().slice(4, 54);
  expect(await page(org, { offset: 4 })).toMatchObject({ ids, blocksRead: 50 });
  await refresh(org, "EMAIL");
  expect(await page(org, { offset: 4 })).toMatchObject({ ids, blocksRead: 0 });
});

test("a block without rare members keeps no note", async () => {
  const { org, disabledIds, activeIds } = await spreadAndNoted();
  await transact(
    org,
    [...disabledIds.map((id) => emails.delete(org, id, disabled))].concat(
      activeIds.map((id) => emails.delete(org, id, active)),
    ),
  );
  await refresh(org, "EMAIL");
  expect(await noted(org)).toEqual(disabledIds.map(() => undefined));
});

test("all ids of a group with up to 32 members in a block are noted, else none", async () => {
  const { org, disabledIds } = await spread(32, 3);
  await refresh(org, "EMAIL");
  expect((await noted(org))[0]).toEqual(disabledIds.slice(0, 32).reverse());
  const more = await spread(33, 3);
  await refresh(more.org, "EMAIL");
  expect((await noted(more.org))[0]).toBeUndefined();
  expect((await page(more.org)).ids).toEqual(more.disabledIds.toReversed().slice(0, 50));
  expect(
    rareGroups(
      new Map([
        ["a", 32],
        ["b", 33],
        ["c", 0],
        ["d", 1],
      ]),
    ),
  ).toEqual(["d", "a"]);
  // Up to 64 ids of a block are noted, those of the rarest groups.
  const many = Array.from({ length: 12 }, (_, index) => [`${index}`, index + 1] as const);
  expect(rareGroups(new Map(many))).toEqual(many.slice(0, 10).map(([name]) => name));
});

test("noting stops when it may not go on, and goes on next time", async () => {
  const { org, disabledIds } = await spread();
  let left = 1;
  await refresh(org, "EMAIL", () => left-- > 0);
  const isNoted = (await noted(org)).filter((ids) => ids !== undefined);
  expect(isNoted.length).toBeGreaterThan(0);
  expect(isNoted.length).toBeLessThan(blocks - 1);
  await refresh(org, "EMAIL");
  expect((await noted(org)).slice(0, -1)).toEqual(disabledIds.slice(0, -1).map((id) => [id]));
});

test("in a full block in which few do not match, little more than the page is read", async () => {
  const org = ++organizations;
  const others = [3, 4, 77, 300, 510];
  const all = await reserve(org, "EMAIL", 2 * blockSize);
  const used = [...all.slice(0, blockSize), all[blockSize]].filter((one) => one !== undefined);
  const isOn = ({ id, block }: Reserved) =>
    others.includes(id - firstIdOf(block)) || block !== used[0]?.block;
  await transact(
    org,
    used.map((one) =>
      emails.put(org, one, isOn(one) ? active : disabled, { email: `${one.id}@example.test` }),
    ),
  );
  await refresh(org, "EMAIL");
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

test("counters that are 0 are removed, and count again when members come back", async () => {
  const { org, disabledIds } = await spread();
  const older = disabledIds.slice(0, -1);
  await move(org, older, disabled, active);
  const namesOf = async () => (await directories.read(org, "EMAIL")).map(({ counts }) => [...counts.keys()]);
  expect((await namesOf()).every((names) => names.length === 2)).toBe(true);
  await refresh(org, "EMAIL");
  // The newest block is left as it is.
  expect((await namesOf()).slice(1).every((names) => names.join() === "1-1")).toBe(true);
  await move(org, older.slice(0, 3), active, disabled);
  expect(await page(org)).toMatchObject({
    ids: [...older.slice(0, 3), ...disabledIds.slice(-1)].reverse(),
    total: 4,
  });
});

test("a counter that is 0 stays when a member is written while it is removed", async () => {
  const { org, disabledIds } = await spread();
  await move(org, disabledIds, disabled, active);
  let isMoved = false;
  const before = async (name: string, input: string): Promise<void> => {
    if (name !== "UpdateItemCommand" || !input.includes("REMOVE") || isMoved) return;
    isMoved = true;
    await move(org, disabledIds, active, disabled);
  };
  await watching({ before }, () => refresh(org, "EMAIL"));
  expect(isMoved).toBe(true);
  expect((await page(org, { limit: 100 })).ids).toEqual([...disabledIds].reverse());
});
