import { afterAll, beforeAll, expect, test } from "vitest";
import { blockOf, blockSize, type Reserved, reserve } from "../../shared/table/blocks.ts";
import { countedList } from "../../shared/table/counted-list.ts";
import * as directories from "../../shared/table/directory.ts";
import { rowsOf } from "../../shared/table/directory.ts";
import { keys, rollupPrefix } from "../../shared/table/keys.ts";
import { parts } from "../../shared/table/parts.ts";
import { blocksPerRollup, rollUp } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { type Engine, recordCapacity, startEngine } from "./engine.ts";

const emails = countedList<{ team: number; isActive: boolean }, { email: string }>("EMAIL", {
  team: "integer",
  isActive: "boolean",
});

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;
const active = { team: 1, isActive: true };
const disabled = { team: 1, isActive: false };

/** An organization with one active e-mail in each of so many blocks, oldest first. */
const spread = async (blocks: number): Promise<{ org: number; ids: number[] }> => {
  const org = ++organizations;
  const ids: number[] = [];
  for (const part of parts(Array.from({ length: blocks }), 45)) {
    const all = await reserve(org, "EMAIL", part.length * blockSize);
    const reserved = part.map((_, index) => all[index * blockSize] as Reserved);
    const puts = reserved.map((each) => emails.put(org, each, active, { email: `${each.id}@example.test` }));
    await table.transact(emails.writes(org, puts));
    ids.push(...reserved.map(({ id }) => id));
  }
  return { org, ids };
};

const disable = (org: number, ids: readonly number[]): Promise<void> =>
  table.transact(
    emails.writes(
      org,
      ids.map((id) => emails.change(org, id, { from: active, to: disabled })),
    ),
  );

const sortKeys = async (org: number): Promise<string[]> => {
  const rows = await table.query<{ sk: string }>({ pk: keys.directory(org, "EMAIL", 0).pk });
  return rows.map(({ sk }) => sk);
};

const rollups = async (org: number) => (await sortKeys(org)).filter((sk) => sk.startsWith(rollupPrefix));
const ownRows = async (org: number) => (await sortKeys(org)).filter((sk) => /^\d/.test(sk)).map(Number);

const totals = async (org: number) => {
  const { total, directory } = await emails.page(org, { limit: 1, offset: 0 });
  return { total, disabled: emails.sum(directory, ({ isActive }) => !isActive) };
};

test("few blocks stay as they are; of 65 the 64 older ones go into one row", async () => {
  const { org, ids } = await spread(blocksPerRollup);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toEqual([]);

  const [newest] = await reserve(org, "EMAIL", blockSize + 1, {});
  await table.transact(emails.writes(org, [emails.put(org, newest as Reserved, active, { email: "new" })]));
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toEqual([keys.rollup(org, "EMAIL", blockOf(ids.at(-1) ?? 0)).sk]);
  expect(await ownRows(org)).toEqual([newest?.block]);
  expect(await totals(org)).toEqual({ total: 65, disabled: 0 });
  const blocks = [...ids.map(blockOf), newest?.block];
  expect(emails.blocks(await emails.directory(org))).toEqual(blocks);
});

test("what changes afterwards counts at once, and goes into the same rows when it is much", async () => {
  const { org, ids } = await spread(2 * blocksPerRollup + 2);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await ownRows(org)).toHaveLength(2);

  await disable(org, ids.slice(10, 55));
  await rollUp(org, "EMAIL");
  expect(await ownRows(org)).toHaveLength(2 + 45);
  expect(await totals(org)).toEqual({ total: 130, disabled: 45 });

  await disable(org, ids.slice(55, 90));
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await ownRows(org)).toHaveLength(2);
  expect(await totals(org)).toEqual({ total: 130, disabled: 80 });
  const of = rowsOf(await emails.directory(org)).map(({ block, counts }) => [block, counts.get("1-0") ?? 0]);
  expect(of.reverse()).toEqual(ids.map((id, index) => [blockOf(id), index >= 10 && index < 90 ? 1 : 0]));
});

test("a member that comes late to an old block is counted and found", async () => {
  const { org, ids } = await spread(20);
  const late = await reserve(org, "EMAIL", 3 * blockSize);
  const last = late.at(-1) as Reserved;
  await spreadIn(org, 60);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(1);
  await table.transact(emails.writes(org, [emails.put(org, last, active, { email: "late" })]));
  expect(await totals(org)).toEqual({ total: 81, disabled: 0 });
  const { items } = await emails.page(org, { limit: 1, offset: 60 });
  expect(items.map(({ id }) => id)).toEqual([last.id]);
  expect(emails.blocks(await emails.directory(org))[ids.length]).toBe(last.block);
});

const spreadIn = async (org: number, blocks: number): Promise<void> => {
  for (const part of parts(Array.from({ length: blocks }), 45)) {
    const all = await reserve(org, "EMAIL", part.length * blockSize);
    const puts = part.map((_, index) =>
      emails.put(org, all[index * blockSize] as Reserved, active, { email: "more" }),
    );
    await table.transact(emails.writes(org, puts));
  }
};

test("readers and writers meanwhile see every member once", async () => {
  const { org, ids } = await spread(3 * blocksPerRollup + 2);
  let isOver = false;
  const seen: number[] = [];
  const read = async (): Promise<void> => {
    while (!isOver) {
      const [{ total }, directory] = await Promise.all([
        emails.page(org, { limit: 1, offset: 150 }),
        emails.directory(org),
      ]);
      seen.push(total, emails.sum(directory), emails.blocks(directory).length);
    }
  };
  let disabledCount = 0;
  const write = async (): Promise<void> => {
    for (const part of parts(ids, 7)) {
      await disable(org, part);
      disabledCount += part.length;
    }
  };
  const roll = async (): Promise<void> => {
    while (disabledCount < ids.length) await rollUp(org, "EMAIL");
  };
  const reading = [read(), read()];
  await Promise.all([write(), roll()]);
  isOver = true;
  await Promise.all(reading);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(3);
  expect(seen.length).toBeGreaterThan(30);
  expect(new Set(seen)).toEqual(new Set([ids.length]));
  expect(await totals(org)).toEqual({ total: ids.length, disabled: ids.length });
});

test("a directory that is rolled up between two rows that are read is read again", async () => {
  const { org } = await spread(blocksPerRollup + 2);
  await rollUp(org, "EMAIL");
  const last = keys.rollups(org, "EMAIL");
  const written = await table.get(last);
  // As a query sees it that passed this row before the change and the rollup after it.
  await table.remove(last);
  const reading = totals(org);
  await expect(Promise.race([reading, Promise.resolve("reads")])).resolves.toBe("reads");
  await table.put({ ...last, ...written });
  expect(await reading).toEqual({ total: blocksPerRollup + 2, disabled: 0 });
});

test("a row that changes while it is rolled up stays, with what it counts", async () => {
  const { org, ids } = await spread(blocksPerRollup + 1);
  const { middlewareStack } = table.client();
  middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName?.startsWith("TransactWrite")) {
          middlewareStack.remove("meanwhile");
          await disable(org, ids.slice(0, 1));
        }
        return next(args);
      },
    { step: "initialize", name: "meanwhile" },
  );
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toEqual([]);
  expect(await totals(org)).toEqual({ total: 65, disabled: 1 });
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(1);
  expect(await totals(org)).toEqual({ total: 65, disabled: 1 });
});

test("costs two units for a row, nothing when there is nothing to do, and makes the directory small", async () => {
  const { org } = await spread(4 * blocksPerRollup + 1);
  const capacity = recordCapacity();
  const read = async (): Promise<number> => {
    capacity.take();
    await emails.directory(org);
    return capacity.take().readUnits;
  };
  const before = await read();
  await rollUp(org, "EMAIL");
  const { writeUnits } = capacity.take();
  const after = await read();
  await rollUp(org, "EMAIL");
  const again = capacity.take();
  console.log(`257 blocks: ${before} read units, ${writeUnits} write units to roll them up, then ${after}`);
  expect(writeUnits).toBeLessThanOrEqual(4 * (blocksPerRollup * 2 + 2 + 4));
  expect(after).toBeLessThanOrEqual(Math.ceil(before / 3));
  expect(again).toMatchObject({ writeUnits: 0, readUnits: after });
});

test("blocks with very many facets are left alone", async () => {
  const many = countedList<{ word: string }, object>("FINDING", { word: "word" });
  const org = ++organizations;
  const word = (block: number, index: number) => `facet_${block}_${index}_${"x".repeat(200)}`;
  const all = await reserve(org, "FINDING", (blocksPerRollup + 1) * blockSize);
  for (let block = 0; block <= blocksPerRollup; block++) {
    const puts = Array.from({ length: 10 }, (_, index) =>
      many.put(org, all[block * blockSize + index] as Reserved, { word: word(block, index) }, {}),
    );
    await table.transact(many.writes(org, puts));
  }
  await rollUp(org, "FINDING");
  const { directory } = await directories.read(org, "FINDING");
  expect(directory).toHaveLength(blocksPerRollup + 1);
  expect(many.sum(directory)).toBe(10 * (blocksPerRollup + 1));
});

test("a page with a time boundary is refused rather than wrong", async () => {
  const { org } = await spread(blocksPerRollup + 1);
  await rollUp(org, "EMAIL");
  const since = new Date(0).toISOString();
  await expect(emails.page(org, { limit: 1, offset: 0, since })).rejects.toThrow("no time boundary");
});
