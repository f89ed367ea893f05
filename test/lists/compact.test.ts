/** Compaction on the real engine. compact-model.test.ts tests its protocol under every interleaving. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { foldPrefix, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, blockSize, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { compact } from "../../shared/lists/compact.ts";
import { countedList } from "../../shared/lists/counted-list.ts";
import * as directories from "../../shared/lists/directory.ts";
import { foldLimits } from "../../shared/lists/fold.ts";
import { type Engine, recordCapacity, startEngine } from "../aws/table/engine.ts";
import { type Command, intercept } from "../aws/table/intercept.ts";
import { active, addBlocks, disabled, emails, move, transact } from "./teams.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;

/** An organization whose list has this many blocks with one active e-mail each, oldest first. */
const spread = async (blocks: number): Promise<{ org: number; ids: number[] }> => {
  const org = ++organizations;
  return { org, ids: await addBlocks(org, blocks) };
};

const disable = (org: number, ids: readonly number[]): Promise<void> => move(org, ids, active, disabled);

const sortKeys = async (org: number): Promise<string[]> => {
  const rows = await table.query<{ sk: string }>({ pk: keys.directory(org, "EMAIL", 0).pk });
  return rows.map(({ sk }) => sk);
};
const folds = async (org: number) => (await sortKeys(org)).filter((sk) => sk.startsWith(foldPrefix));
const ownRows = async (org: number) => (await sortKeys(org)).filter((sk) => /^\d/.test(sk)).map(Number);

const totals = async (org: number) => {
  const { total, directory } = await emails.page(org, { limit: 1, offset: 0 });
  return { total, disabled: emails.sum(directory, ({ isActive }) => !isActive) };
};

/** Calls `before` once, just before the first command that `isIt` accepts. */
const beforeCommand = (
  isIt: (name: string, input: string) => boolean,
  before: () => Promise<unknown>,
): void => {
  const stop = intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
    if (isIt(commandName, JSON.stringify(sent.input))) {
      stop();
      await before();
    }
    return next(sent);
  });
};

const steps = {
  "takes its number": (name: string, input: string) => name.startsWith("Update") && input.includes("~FOLDS"),
  "writes the fold": (name: string, input: string) => name.startsWith("Put") && input.includes("#FOLD#"),
  "writes the rare members": (name: string, input: string) =>
    name.startsWith("Put") && input.includes("!RARE#"),
  "deletes the rows": (name: string) => name.startsWith("Delete"),
};

describe("folds:", () => {
  test("hold all blocks but the newest, from two blocks on, 64 in each fold", async () => {
    const { org, ids } = await spread(2);
    await compact(org, "EMAIL");
    expect(await folds(org)).toEqual([]);

    const grow = async (blocks: number): Promise<{ folded: number[]; own: number }> => {
      ids.push(...(await addBlocks(org, blocks - ids.length)));
      await compact(org, "EMAIL");
      expect(await totals(org)).toEqual({ total: blocks, disabled: 0 });
      const directory = await emails.directory(org);
      expect(emails.blocks(directory)).toEqual(ids.map(blockOf));
      const own = (await ownRows(org)).length;
      const folded = directory.slice(own).map((section) => section.blocks().length);
      expect(await folds(org)).toHaveLength(folded.length);
      return { folded: folded.reverse(), own };
    };
    expect(await grow(3)).toEqual({ folded: [2], own: 1 });
    expect(await grow(4)).toEqual({ folded: [2], own: 2 });
    expect(await grow(5)).toEqual({ folded: [4], own: 1 });
    // A single block beside a fold that has room is not folded yet.
    expect(await grow(66)).toEqual({ folded: [64], own: 2 });
    expect(await grow(67)).toEqual({ folded: [64, 2], own: 1 });
    expect(await grow(200)).toEqual({ folded: [64, 64, 64, 7], own: 1 });
  });

  test("take new counters of folded blocks, which count at once, when they are many", async () => {
    const { org, ids } = await spread(130);
    await compact(org, "EMAIL");
    await disable(org, ids.slice(10, 15));
    await compact(org, "EMAIL");
    expect(await ownRows(org)).toHaveLength(2 + 5);
    expect(await totals(org)).toEqual({ total: 130, disabled: 5 });

    await disable(org, ids.slice(15, 30));
    await disable(org, ids.slice(70, 75));
    await compact(org, "EMAIL");
    expect(await folds(org)).toHaveLength(2);
    expect(await ownRows(org)).toHaveLength(2 + 5);
    expect(await totals(org)).toEqual({ total: 130, disabled: 25 });
    const disabledIn = directories
      .blocksIn(await emails.directory(org))
      .map(({ block, counts }) => [block, counts.get("1-0") ?? 0]);
    const isDisabled = (index: number) => (index >= 10 && index < 30) || (index >= 70 && index < 75);
    expect(disabledIn.reverse()).toEqual(ids.map((id, index) => [blockOf(id), isDisabled(index) ? 1 : 0]));
  });

  test("count and find a member that comes late to an old block", async () => {
    const { org, ids } = await spread(20);
    const last = (await reserve(org, "EMAIL", 3 * blockSize)).at(-1) as Reserved;
    await addBlocks(org, 46);
    await compact(org, "EMAIL");
    expect(await folds(org)).toHaveLength(1);
    await transact(org, [emails.put(org, last, active, { email: "late" })]);
    for (let folding = 0; folding < 2; folding++) {
      expect(await totals(org)).toEqual({ total: 67, disabled: 0 });
      const { items } = await emails.page(org, { limit: 1, offset: 46 });
      expect(items.map(({ id }) => id)).toEqual([last.id]);
      expect(emails.blocks(await emails.directory(org))[ids.length]).toBe(last.block);
      await disable(org, ids.slice(0, 15));
      await compact(org, "EMAIL");
      await move(org, ids.slice(0, 15), disabled, active);
    }
  });

  test("do not take a damaged counter, so that the audit finds it", async () => {
    const { org, ids } = await spread(66);
    const damaged = keys.directory(org, "EMAIL", blockOf(ids[7] ?? 0));
    await table.update(damaged, { set: { "1-1": "damaged" } });
    await compact(org, "EMAIL");
    expect(await ownRows(org)).toContain(blockOf(ids[7] ?? 0));
    expect(await folds(org)).toHaveLength(1);
  });

  test("still name blocks without members, at no further cost", async () => {
    const { org, ids } = await spread(66);
    await compact(org, "EMAIL");
    await transact(
      org,
      ids.slice(0, 64).map((id) => emails.delete(org, id, active)),
    );
    await compact(org, "EMAIL");
    expect(await ownRows(org)).toHaveLength(2);
    expect(await totals(org)).toEqual({ total: 2, disabled: 0 });
    const blocks = directories.blocksIn(await emails.directory(org)).map(({ block }) => block);
    expect(blocks.reverse()).toEqual(ids.map(blockOf));
    const capacity = recordCapacity();
    await compact(org, "EMAIL");
    expect(capacity.take()).toMatchObject({ writeUnits: 0 });
  });

  test("hold fewer blocks if the blocks have very many groups", async () => {
    const many = countedList<{ word: string }, object>("FINDING", { word: "word" });
    const org = ++organizations;
    const all = await reserve(org, "FINDING", 65 * blockSize);
    for (let block = 0; block < 65; block++) {
      const puts = Array.from({ length: 10 }, (_, index) =>
        many.put(
          org,
          all[block * blockSize + index] as Reserved,
          { word: `${block}_${index}_${"x".repeat(200)}` },
          {},
        ),
      );
      await table.transact(many.writes(org, puts));
    }
    await compact(org, "FINDING");
    const directory = await directories.read(org, "FINDING");
    expect(many.sum(directory)).toBe(650);
    const lengths = directory.map((section) => section.blocks().length);
    expect(lengths).toEqual([1, expect.any(Number), expect.any(Number)]);
    expect(Math.max(...lengths)).toBeLessThan(foldLimits.blocks);
  });
});

describe("no reader waits, whatever happens to a folder:", () => {
  test.each(Object.entries(steps))("killed before it %s", async (_, isStep) => {
    const { org, ids } = await spread(130);
    await compact(org, "EMAIL", () => false);
    beforeCommand(isStep, () => Promise.reject(new Error("killed")));
    await expect(compact(org, "EMAIL")).rejects.toThrow("killed");
    const startedAt = performance.now();
    expect(await totals(org)).toEqual({ total: 130, disabled: 0 });
    await disable(org, ids.slice(0, 20));
    expect(await totals(org)).toEqual({ total: 130, disabled: 20 });
    expect(performance.now() - startedAt).toBeLessThan(2_000);

    await compact(org, "EMAIL");
    expect(await totals(org)).toEqual({ total: 130, disabled: 20 });
    expect(await folds(org)).toHaveLength(2);
    expect(await ownRows(org)).toHaveLength(2);
  });

  test("overtaken by a writer before it deletes the row: the row stays and counts on", async () => {
    const { org, ids } = await spread(66);
    beforeCommand(steps["deletes the rows"], () => disable(org, ids.slice(0, 3)));
    await compact(org, "EMAIL");
    expect(await totals(org)).toEqual({ total: 66, disabled: 3 });
    expect(await ownRows(org)).toEqual(expect.arrayContaining(ids.slice(0, 3).map(blockOf)));
    await disable(org, ids.slice(3, 10));
    await compact(org, "EMAIL");
    expect(await totals(org)).toEqual({ total: 66, disabled: 10 });
    expect(await ownRows(org)).toHaveLength(2);
  });

  test("two folders at once: every member is counted once", async () => {
    const { org, ids } = await spread(200);
    await Promise.all([compact(org, "EMAIL"), compact(org, "EMAIL"), disable(org, ids.slice(0, 40))]);
    expect(await totals(org)).toEqual({ total: 200, disabled: 40 });
    await compact(org, "EMAIL");
    expect(await totals(org)).toEqual({ total: 200, disabled: 40 });
  });

  test("a query during which a fold is made is made again", async () => {
    const { org, ids } = await spread(66);
    let queries = 0;
    const stop = intercept<Command>("initialize", (next, { commandName }) => async ({ input, ...sent }) => {
      if (commandName !== "QueryCommand") return next({ ...sent, input });
      if (++queries === 3) {
        stop();
        await compact(org, "EMAIL");
        expect(await folds(org)).toHaveLength(1);
      }
      return next({ ...sent, input: { ...input, Limit: 15 } });
    });
    expect(emails.sum(await emails.directory(org))).toBe(ids.length);
    expect(queries).toBe(3);
  });
});

test("readers see every member once while writers and folders are at work", async () => {
  const { org, ids } = await spread(194);
  // Queries of the directory come in pages of 15 rows, so that writes can happen between the pages.
  const stop = intercept<Command>("initialize", (next, { commandName }) => async ({ input, ...sent }) => {
    const isDirectory = JSON.stringify(input.ExpressionAttributeValues ?? {}).includes('#EMAIL"');
    const isCut = commandName === "QueryCommand" && isDirectory && input.Limit === undefined;
    return next({ ...sent, input: isCut ? { ...input, Limit: 15 } : input });
  });
  let isOver = false;
  const seen: number[] = [];
  let pages = 0;
  const read = async (): Promise<void> => {
    let left = ids.length;
    while (!isOver) {
      const [{ total }, directory, filtered] = await Promise.all([
        emails.page(org, { limit: 1, offset: 150 }),
        emails.directory(org),
        emails.page(org, { limit: 20, offset: 0, matches: ({ isActive }) => isActive }),
      ]);
      seen.push(total, emails.sum(directory), emails.blocks(directory).length);
      expect(filtered.total).toBeLessThanOrEqual(left);
      left = filtered.total;
      const found = filtered.items.map(({ id }) => id);
      expect(found).toEqual([...new Set(found)].sort((one, other) => other - one));
      expect(filtered.items.every(({ group }) => group === "1-1")).toBe(true);
      pages++;
    }
  };
  let disabledCount = 0;
  const write = async (): Promise<void> => {
    for (const part of chunk(ids, 7)) {
      await disable(org, part);
      disabledCount += part.length;
    }
  };
  const fold = async (): Promise<void> => {
    while (disabledCount < ids.length) await compact(org, "EMAIL");
  };
  const reading = [read(), read()];
  await Promise.all([write(), fold(), fold()]);
  isOver = true;
  await Promise.all(reading);
  await compact(org, "EMAIL");
  stop();
  expect(await folds(org)).toHaveLength(3);
  expect(seen.length).toBeGreaterThan(15);
  expect(pages).toBeGreaterThan(5);
  expect(new Set(seen)).toEqual(new Set([ids.length]));
  expect(await totals(org)).toEqual({ total: ids.length, disabled: ids.length });
});

test("folding costs a unit a row and few a fold, and makes the directory small", async () => {
  const { org } = await spread(257);
  const capacity = recordCapacity();
  const read = async (): Promise<number> => {
    capacity.take();
    await emails.directory(org);
    return capacity.take().readUnits;
  };
  const before = await read();
  await compact(org, "EMAIL");
  const { writeUnits } = capacity.take();
  const after = await read();
  await compact(org, "EMAIL");
  const again = capacity.take();
  console.log(`257 blocks: ${before} read units, ${writeUnits} write units to fold them, then ${after}`);
  // 256 rows are deleted. Each of the four folds is written twice: with the rows that it took, and without
  // their names.
  expect(writeUnits).toBeLessThanOrEqual(256 + 4 * 16);
  expect(after).toBeLessThanOrEqual(Math.ceil(before / 3));
  expect(again).toMatchObject({ writeUnits: 0 });
});

describe("pages with a time boundary", () => {
  test("are exact over folds, even with a block that came late", async () => {
    const entries = countedList<{ word: string }, object>("ACTIVITY", { word: "word" });
    const org = ++organizations;
    const time = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();
    const reserveAt = async (second: number) =>
      (await reserve(org, "ACTIVITY", blockSize, { at: time(second) })) as [Reserved, ...Reserved[]];
    const [late] = await reserveAt(0);
    const put = (reserved: Reserved) => entries.put(org, reserved, { word: "a" }, {});
    const ids: number[] = [];
    for (let second = 1; second <= 130; second++) {
      const [first, next] = await reserveAt(second);
      await table.transact(entries.writes(org, [first, next as Reserved].map(put)));
      ids.push(first.id, (next as Reserved).id);
    }
    await compact(org, "ACTIVITY");
    const directory = await directories.read(org, "ACTIVITY");
    expect(directory.map((section) => [section.from, section.blocks().length])).toEqual([
      [time(130), 1],
      [time(129), 1],
      [time(65), 64],
      [time(1), 64],
    ]);
    await table.transact(entries.writes(org, [put(late)]));
    const all = [late.id, ...ids];
    for (const second of [0, 1, 2, 40, 64, 65, 66, 67, 128, 129, 130, 131]) {
      const since = time(second);
      const visible = all.slice(second === 0 ? 0 : 2 * second - 1).reverse();
      for (const offset of [0, 60, 127, visible.length - 1]) {
        const { items, total } = await entries.page(org, { limit: 3, offset: Math.max(0, offset), since });
        expect({ second, total, ids: items.map(({ id }) => id) }).toEqual({
          second,
          total: visible.length,
          ids: visible.slice(Math.max(0, offset), Math.max(0, offset) + 3),
        });
      }
    }
  });

  test("are refused, and not wrong, in lists whose folds keep no times", async () => {
    const { org } = await spread(65);
    await compact(org, "EMAIL");
    const since = new Date(0).toISOString();
    await expect(emails.page(org, { limit: 1, offset: 0, since })).rejects.toThrow("no time boundary");
  });
});
