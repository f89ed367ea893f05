import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { blockOf, blockSize, firstIdOf, type Reserved, reserve } from "../../shared/table/blocks.ts";
import { countedList } from "../../shared/table/counted-list.ts";
import * as directories from "../../shared/table/directory.ts";
import { rowsOf } from "../../shared/table/directory.ts";
import { keys, marksPrefix, rollupPrefix } from "../../shared/table/keys.ts";
import { marksOf } from "../../shared/table/marks.ts";
import { parts } from "../../shared/table/parts.ts";
import { blocksPerRollup, rollUp, storedBlock } from "../../shared/table/roll-up.ts";
import * as table from "../../shared/table/table.ts";
import { type Engine, recordCapacity, startEngine } from "./engine.ts";
import { type Command, intercept } from "./intercept.ts";
import { active, disabled, emails } from "./teams.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

let organizations = 0;

/** An organization with one active e-mail in each of so many blocks, oldest first. */
const spread = async (blocks: number): Promise<{ org: number; ids: number[] }> => {
  const org = ++organizations;
  return { org, ids: await addBlocks(org, blocks) };
};

/** The same in an organization that has some. */
const addBlocks = async (org: number, blocks: number): Promise<number[]> => {
  const ids: number[] = [];
  for (const part of parts(Array.from({ length: blocks }), 45)) {
    const all = await reserve(org, "EMAIL", part.length * blockSize);
    const reserved = part.map((_, index) => all[index * blockSize] as Reserved);
    const puts = reserved.map((each) => emails.put(org, each, active, { email: `${each.id}@example.test` }));
    await table.transact(emails.writes(org, puts));
    ids.push(...reserved.map(({ id }) => id));
  }
  return ids;
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

test("the newest block and a single full one stay as they are; others go into one row as long as it has room", async () => {
  const { org, ids } = await spread(2);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toEqual([]);

  /** Until there are so many: blocks in rollups, oldest first, and the others. */
  const grow = async (blocks: number): Promise<{ rolledUp: number[]; own: number }> => {
    ids.push(...(await addBlocks(org, blocks - ids.length)));
    await rollUp(org, "EMAIL");
    expect(await totals(org)).toEqual({ total: blocks, disabled: 0 });
    expect(emails.blocks(await emails.directory(org))).toEqual(ids.map(blockOf));
    const directory = (await emails.directory(org)).filter(({ key }) => key.sk.startsWith(rollupPrefix));
    const own = (await ownRows(org)).length;
    expect(await rollups(org)).toHaveLength(directory.length);
    return { rolledUp: directory.map((section) => section.rows().length).reverse(), own };
  };
  expect(await grow(3)).toEqual({ rolledUp: [2], own: 1 });
  expect(await grow(4)).toEqual({ rolledUp: [2], own: 2 });
  expect(await grow(5)).toEqual({ rolledUp: [4], own: 1 });
  expect(await grow(64)).toEqual({ rolledUp: [63], own: 1 });
  // One has room, the other waits for a third.
  expect(await grow(66)).toEqual({ rolledUp: [64], own: 2 });
  expect(await grow(67)).toEqual({ rolledUp: [64, 2], own: 1 });
  expect(await grow(200)).toEqual({ rolledUp: [64, 64, 64, 7], own: 1 });
  const last = ids.map(blockOf)[198] ?? 0;
  expect(await sortKeys(org)).toContain(keys.marks(org, "EMAIL", last).sk);
  const marks = (await sortKeys(org)).filter((sk) => sk.startsWith(marksPrefix));
  expect(marks).toHaveLength(4);
}, 20_000);

test("what changed in a rollup that grows is still counted, and goes into it later", async () => {
  const { org, ids } = await spread(20);
  await rollUp(org, "EMAIL");
  await disable(org, ids.slice(0, 5));
  ids.push(...(await addBlocks(org, 10)));
  beforeChange(() => disable(org, ids.slice(5, 6)));
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toEqual([keys.rollup(org, "EMAIL", blockOf(ids[28] ?? 0)).sk]);
  expect(await ownRows(org)).toHaveLength(1 + 6);
  expect(await totals(org)).toEqual({ total: 30, disabled: 6 });
  await disable(org, ids.slice(6, 12));
  await rollUp(org, "EMAIL");
  expect(await ownRows(org)).toHaveLength(1);
  expect(await totals(org)).toEqual({ total: 30, disabled: 12 });
});

test("what changes afterwards counts at once, and goes into the same row when it is much", async () => {
  const { org, ids } = await spread(2 * blocksPerRollup + 2);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await ownRows(org)).toHaveLength(2);

  await disable(org, ids.slice(10, 15));
  await rollUp(org, "EMAIL");
  expect(await ownRows(org)).toHaveLength(2 + 5);
  expect(await totals(org)).toEqual({ total: 130, disabled: 5 });

  // Of the older rollup 20, of the newer one 5: not worth a change.
  await disable(org, ids.slice(15, 30));
  await disable(org, ids.slice(70, 75));
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await ownRows(org)).toHaveLength(2 + 5);
  expect(await totals(org)).toEqual({ total: 130, disabled: 25 });
  const directory = await emails.directory(org);
  const disabledIn = rowsOf(directory).map(({ block, counts }) => [block, counts.get("1-0") ?? 0]);
  const isDisabled = (index: number) => (index >= 10 && index < 30) || (index >= 70 && index < 75);
  expect(disabledIn.reverse()).toEqual(ids.map((id, index) => [blockOf(id), isDisabled(index) ? 1 : 0]));
});

test("a member that comes late to an old block is counted and found", async () => {
  const { org, ids } = await spread(20);
  const late = await reserve(org, "EMAIL", 3 * blockSize);
  const last = late.at(-1) as Reserved;
  await addBlocks(org, 46);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(1);
  await table.transact(emails.writes(org, [emails.put(org, last, active, { email: "late" })]));
  expect(await totals(org)).toEqual({ total: 67, disabled: 0 });
  const { items } = await emails.page(org, { limit: 1, offset: 46 });
  expect(items.map(({ id }) => id)).toEqual([last.id]);
  expect(emails.blocks(await emails.directory(org))[ids.length]).toBe(last.block);
});

/** Cuts queries of directories into many, so that something can happen between two rows; calls `before` before each. */
const cutQueries = (before: () => Promise<unknown> = async () => {}) => {
  let queries = 0;
  const stop = intercept<Command>("initialize", (next, { commandName }) => async ({ input, ...sent }) => {
    const isDirectory = JSON.stringify(input.ExpressionAttributeValues ?? {}).includes('#EMAIL"');
    if (commandName !== "QueryCommand" || !isDirectory || input.Limit !== undefined) {
      return next({ ...sent, input });
    }
    queries++;
    await before();
    return next({ ...sent, input: { ...input, Limit: 15 } });
  });
  return {
    restore: () => {
      stop();
      return queries;
    },
  };
};

test("readers and writers meanwhile see every member once, also those whose queries are cut", async () => {
  const { org, ids } = await spread(3 * blocksPerRollup + 2);
  const cut = cutQueries();
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
      expect(filtered.items.every(({ facet }) => facet === "1-1")).toBe(true);
      pages++;
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
  await Promise.all([write(), roll(), roll()]);
  isOver = true;
  await Promise.all(reading);
  await rollUp(org, "EMAIL");
  cut.restore();
  expect(await rollups(org)).toHaveLength(3);
  expect(seen.length).toBeGreaterThan(15);
  expect(pages).toBeGreaterThan(5);
  expect(new Set(seen)).toEqual(new Set([ids.length]));
  expect(await totals(org)).toEqual({ total: ids.length, disabled: ids.length });
});

test("a query that a change is made in the middle of is made again", async () => {
  const { org, ids } = await spread(blocksPerRollup + 2);
  let query = 0;
  const cut = cutQueries(async () => {
    // After a part of the blocks.
    if (++query === 3) {
      const own = cut.restore();
      await rollUp(org, "EMAIL");
      expect(own).toBe(3);
    }
  });
  expect(emails.sum(await emails.directory(org))).toBe(ids.length);
  expect(await rollups(org)).toHaveLength(1);
});

/** Calls `before` before the transaction that moves counters; the one before it only says that it begins. */
const beforeChange = (before: () => Promise<unknown>): void => {
  let transactions = 0;
  const stop = intercept<Command>("initialize", (next, { commandName }) => async (sent) => {
    if (commandName?.startsWith("TransactWrite") && ++transactions === 2) {
      stop();
      await before();
    }
    return next(sent);
  });
};

test("a change that was begun and never ended holds readers up for five seconds, and the next one goes on", async () => {
  const { org } = await spread(2 * blocksPerRollup + 2);
  beforeChange(() => Promise.reject(new Error("killed")));
  await expect(rollUp(org, "EMAIL")).rejects.toThrow("killed");
  const begun = await table.get<{ at: string }>(keys.rollupsBegun(org, "EMAIL"));
  // And one of whose clock was wrong.
  const other = await spread(2);
  const ahead = { ...keys.rollupsBegun(other.org, "EMAIL"), change: 1, at: "2999-01-01T00:00:00.000Z" };
  await table.put(ahead);
  const [read, readOther] = await Promise.all([totals(org), totals(other.org)]);
  expect(read).toEqual({ total: 130, disabled: 0 });
  expect(readOther).toEqual({ total: 2, disabled: 0 });
  expect(Date.now() - Date.parse(begun?.at ?? "")).toBeGreaterThan(5_000);
  const again = performance.now();
  expect(await totals(org)).toEqual({ total: 130, disabled: 0 });
  expect(performance.now() - again).toBeLessThan(2_000);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await totals(org)).toEqual({ total: 130, disabled: 0 });
}, 20_000);

test("who was taken for dead does not change what others did, and begins anew", async () => {
  const { org } = await spread(blocksPerRollup + 2);
  const numbers = [keys.rollupsBegun(org, "EMAIL"), keys.rollupsEnded(org, "EMAIL")];
  beforeChange(() => Promise.all(numbers.map((key) => table.update(key, { set: { change: 99 } }))));
  await rollUp(org, "EMAIL");
  const rows = await table.query<{ sk: string; change: number }>({ pk: keys.directory(org, "EMAIL", 0).pk });
  expect(rows.filter(({ sk }) => sk.startsWith(rollupPrefix))).toMatchObject([{ change: 100 }]);
  expect(await table.getMany(numbers)).toMatchObject([{ change: 100 }, { change: 100 }]);
  expect(await totals(org)).toEqual({ total: 66, disabled: 0 });
});

test("a block is found in its rollup, and in none where it came late", async () => {
  const { org, ids } = await spread(blocksPerRollup);
  const late = (await reserve(org, "EMAIL", 2 * blockSize)).at(-1) as Reserved;
  ids.push(...(await addBlocks(org, blocksPerRollup + 2)));
  await rollUp(org, "EMAIL");
  const of = (id: number) => storedBlock(org, "EMAIL", blockOf(id));
  const held = (id: number) => ({
    counts: new Map([[emails.encode(active), 1]]),
    marks: new Map([[emails.encode(active), marksOf(blockOf(id), [id])]]),
  });
  for (const index of [0, 100]) {
    const id = ids[index] ?? 0;
    expect(await of(id)).toEqual({ own: undefined, rolledUp: held(id) });
  }
  await table.transact(emails.writes(org, [emails.put(org, late, active, { email: "late" })]));
  expect(await of(late.id)).toMatchObject({ own: { writes: 1 }, rolledUp: undefined });
  expect(await of(ids.at(-1) ?? 0)).toMatchObject({ own: { writes: 1 }, rolledUp: undefined });
});

test.each(["rollupsBegun", "rollupsEnded"] as const)("a lost row %s does no harm", async (name) => {
  const { org } = await spread(2 * blocksPerRollup + 2);
  await rollUp(org, "EMAIL");
  const begun = keys.rollupsBegun(org, "EMAIL");
  await table.update(begun, { set: { at: new Date(0).toISOString() } });
  await table.remove(keys[name](org, "EMAIL"));
  expect(await totals(org)).toEqual({ total: 130, disabled: 0 });
  await addBlocks(org, blocksPerRollup);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(3);
  expect(await totals(org)).toEqual({ total: 194, disabled: 0 });
});

test("rows from before there were rollups are rolled up too", async () => {
  const { org } = await spread(blocksPerRollup + 2);
  for (const block of await ownRows(org)) {
    await table.update(keys.directory(org, "EMAIL", block), { remove: ["writes"] });
  }
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(1);
  expect(await totals(org)).toEqual({ total: 66, disabled: 0 });
});

test("a row with a damaged counter stays as it is, for the check to find", async () => {
  const { org, ids } = await spread(6);
  const [, , damaged] = ids.map(blockOf);
  await table.update(keys.directory(org, "EMAIL", damaged ?? 0), { set: { "1-0": "many" } });
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(1);
  expect(await ownRows(org)).toEqual([damaged, blockOf(ids.at(-1) ?? 0)]);
});

test("two at once: one makes the changes, the other leaves them alone", async () => {
  const { org } = await spread(2 * blocksPerRollup + 2);
  await Promise.all([rollUp(org, "EMAIL"), rollUp(org, "EMAIL")]);
  await rollUp(org, "EMAIL");
  expect(await rollups(org)).toHaveLength(2);
  expect(await ownRows(org)).toHaveLength(2);
  expect(await totals(org)).toEqual({ total: 130, disabled: 0 });
});

test("a row that changes while it is rolled up is not lost, and soon tried again", async () => {
  const { org, ids } = await spread(blocksPerRollup + 1);
  beforeChange(async () => {
    await disable(org, ids.slice(0, 1));
    expect(await rollups(org)).toEqual([]);
  });
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
  expect(writeUnits).toBeLessThanOrEqual(4 * (blocksPerRollup * 2 + 2 + 2 + 6));
  expect(after).toBeLessThanOrEqual(Math.ceil(before / 3));
  expect(again).toMatchObject({ writeUnits: 0, readUnits: after });
});

test("a rollup says of its blocks what it was told, in whatever order, with gaps, also what should not be", async () => {
  const rows = fc.uniqueArray(
    fc.record({
      block: fc.nat({ max: 30 }),
      counts: fc.dictionary(fc.constantFrom("1-0", "1-1", "2-1"), fc.integer({ min: -3, max: 700 })),
      places: fc.dictionary(
        fc.constantFrom("1-0", "1-1", "2-1"),
        fc.uniqueArray(fc.nat(blockSize - 1), { minLength: 1, maxLength: 16 }),
      ),
    }),
    { minLength: 1, selector: ({ block }) => block },
  );
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const org = ++organizations;
      const told = given.map(({ block, counts, places }) => {
        const ids = Object.entries(places).map(
          ([facet, of]) =>
            [
              facet,
              marksOf(
                block,
                of.map((place) => firstIdOf(block) + place),
              ),
            ] as const,
        );
        return { block, from: undefined, counts: new Map(Object.entries(counts)), marks: new Map(ids) };
      });
      const { marks, ...texts } = directories.textsOf("EMAIL", told);
      await table.put({ ...keys.rollup(org, "EMAIL", 30), change: 1, ...texts });
      await table.put({ ...keys.marks(org, "EMAIL", 30), change: 1, marks });
      const [section] = (await directories.read(org, "EMAIL", { withMarks: true })).directory;
      const sums = new Map<string, number>();
      for (const { counts } of told) {
        for (const [facet, count] of counts) {
          if (count !== 0) sums.set(facet, (sums.get(facet) ?? 0) + count);
        }
      }
      expect(section?.counts).toEqual(sums);
      const held = told.map(({ block, counts, marks }) => ({
        block,
        from: undefined,
        counts: new Map([...counts].filter(([, count]) => count !== 0)),
        marks,
      }));
      expect(section?.rows()).toEqual(held.sort((one, other) => other.block - one.block));
    }),
    { numRuns: 200 },
  );
});

test("blocks whose members are all gone are still known, and cost nothing more", async () => {
  const { org, ids } = await spread(blocksPerRollup + 2);
  await rollUp(org, "EMAIL");
  const gone = ids.slice(0, blocksPerRollup);
  for (const part of parts(gone, 40)) {
    await table.transact(
      emails.writes(
        org,
        part.map((id) => emails.delete(org, id, active)),
      ),
    );
  }
  await rollUp(org, "EMAIL");
  expect(await ownRows(org)).toHaveLength(2);
  expect(await totals(org)).toEqual({ total: 2, disabled: 0 });
  const blocks = rowsOf(await emails.directory(org)).map(({ block }) => block);
  expect(blocks.reverse()).toEqual(ids.map(blockOf));
  const capacity = recordCapacity();
  await rollUp(org, "EMAIL");
  expect(capacity.take()).toMatchObject({ writeUnits: 0 });
});

test("of blocks with very many facets fewer go into a row", async () => {
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
  expect(many.sum(directory)).toBe(10 * (blocksPerRollup + 1));
  const lengths = directory.map((section) => section.rows().length);
  expect(lengths).toEqual([1, expect.any(Number), expect.any(Number)]);
  expect(Math.max(...lengths)).toBeLessThan(blocksPerRollup);
});

test("in lists with a time boundary a rollup keeps when its blocks began, also of one that came late", async () => {
  const entries = countedList<{ word: string }, object>("ACTIVITY", { word: "word" });
  const org = ++organizations;
  const time = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();
  const reserveAt = async (second: number) =>
    (await reserve(org, "ACTIVITY", blockSize, { at: time(second) })) as [Reserved, ...Reserved[]];
  // Its block is older than all others.
  const [late] = await reserveAt(0);
  const put = (reserved: Reserved) => entries.put(org, reserved, { word: "a" }, {});
  const ids: number[] = [];
  for (let second = 1; second <= 2 * blocksPerRollup + 2; second++) {
    const [first, next] = await reserveAt(second);
    await table.transact(entries.writes(org, [first, next as Reserved].map(put)));
    ids.push(first.id, (next as Reserved).id);
  }
  await rollUp(org, "ACTIVITY");
  const { directory } = await directories.read(org, "ACTIVITY");
  expect(directory.map((section) => [section.from, section.rows().length])).toEqual([
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

test("a page with a time boundary is refused rather than wrong", async () => {
  const { org } = await spread(blocksPerRollup + 1);
  await rollUp(org, "EMAIL");
  const since = new Date(0).toISOString();
  await expect(emails.page(org, { limit: 1, offset: 0, since })).rejects.toThrow("no time boundary");
});
