/** The page planner: each plan is carried out on an array and compared with a naive list. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { blockSize, firstIdOf } from "../../shared/lists/blocks.ts";
import { type PageQuery, planPage, type Read } from "../../shared/lists/plan.ts";
import type { Block } from "../../shared/lists/tally.ts";

type Member = { id: number; groupKey: string; createdAt: string };

const groupKeys = ["a", "b", "c"];
const timeOf = (second: number): string => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();

/** Up to eight blocks with random members; times ascend with ids. */
const members: fc.Arbitrary<Member[]> = fc
  .uniqueArray(fc.noBias(fc.nat(8 * blockSize - 1)), { minLength: 100, maxLength: 300, size: "max" })
  .chain((places) =>
    fc.tuple(
      fc.constant(places.sort((one, other) => one - other)),
      fc.array(fc.constantFrom(...groupKeys), { minLength: places.length, maxLength: places.length }),
    ),
  )
  .map(([places, keys]) =>
    places.map((place, index) => ({
      id: place + 1,
      groupKey: keys[index] ?? "a",
      createdAt: timeOf(index >> 2),
    })),
  );

const blocksOf = (all: readonly Member[]): Block[] =>
  [...Map.groupBy(all, ({ id }) => Math.floor((id - 1) / blockSize))]
    .map(([block, inBlock]): Block => {
      const byGroup = Map.groupBy(inBlock, ({ groupKey }) => groupKey);
      const counts = [...byGroup].map(([key, some]) => [key, some.length] as const);
      return {
        block,
        from: Date.parse(inBlock[0]?.createdAt ?? ""),
        writes: 1,
        counts: new Map([...counts, ["gone", 0]]),
      };
    })
    .sort((one, other) => other.block - one.block);

/** What the table would send for a read, newest first, and how many rows the read would pass. */
const carryOut = (all: readonly Member[], read: Read, matching: (key: string) => boolean): Member[] => {
  const [first, last] = [firstIdOf(read.block), firstIdOf(read.block + 1) - 1];
  const [fromId, toId] = read.way === "range" ? [read.fromId, read.toId] : [first, last];
  expect(fromId).toBeGreaterThanOrEqual(first);
  expect(toId).toBeLessThanOrEqual(last);
  const rows = all
    .filter(({ id, groupKey }) => id >= fromId && id <= toId && matching(groupKey))
    .filter(({ groupKey }) => read.groupKeys?.includes(groupKey) ?? true)
    .filter(({ createdAt }) => read.way === "range" || createdAt >= read.since);
  if (read.way === "range" && !read.descending)
    return rows.slice(read.skip, read.skip + read.taken).reverse();
  return rows.reverse().slice(read.skip, read.skip + read.taken);
};

const check = (all: Member[], query: PageQuery): Read[] => {
  const plan = planPage(blocksOf(all), query);
  const visible = all
    .filter(({ groupKey, createdAt }) => query.matching(groupKey) && createdAt >= (query.since ?? ""))
    .reverse();
  const page = plan.reads.flatMap((read) => carryOut(all, read, query.matching));
  expect(page.map(({ id }) => id)).toEqual(
    visible.slice(query.offset, query.offset + query.limit).map(({ id }) => id),
  );
  const boundary = plan.reads.find((read) => read.way === "boundary");
  const ofBoundary = visible.filter(
    ({ id }) => boundary && Math.floor((id - 1) / blockSize) === boundary.block,
  );
  expect(plan.total).toBe(visible.length - ofBoundary.length);
  for (const { groupKey } of page) expect(plan.groupKeys).toContain(groupKey);
  return plan.reads;
};

test("a plan reads the page of a naive list, in each way of reading", () => {
  const ways = { range: 0, boundary: 0 };
  const wanted = fc.subarray(groupKeys, { minLength: 1 });
  const page = fc.record({ limit: fc.integer({ min: 1, max: 100 }), offset: fc.nat(350) });
  const since = fc.option(fc.nat(80).map(timeOf), { nil: undefined, freq: 2 });
  fc.assert(
    fc.property(members, wanted, page, since, (...given) => {
      const [all, keys, { limit, offset }, from] = given;
      const matching = (key: string) => keys.includes(key);
      for (const { way } of check(all, { matching, limit, offset, since: from })) ways[way]++;
    }),
    { seed: Number(process.env.SEED ?? 20_300_101), numRuns: Number(process.env.RUNS ?? 400) },
  );
  expect(Math.min(...Object.values(ways))).toBeGreaterThan(50);
});

const half = blockSize / 2;

test.each([
  // Three in four members match: ids at the far side of the page need not be read.
  ["three in four", (place: number) => place % 4 !== 0, 0, 230],
  ["three in four", (place: number) => place % 4 !== 0, 200, 380],
  ["the older half", (place: number) => place < half, 0, 50],
  ["the older half", (place: number) => place < half, 100, 150],
  ["the newer half", (place: number) => place >= half, 100, half],
  ["the newer half", (place: number) => place >= half, half - 50, 50],
  ["all", () => true, 200, 50],
])("a block of which %s match is sent with few others (%#)", (_, isMatching, offset, most) => {
  const all = Array.from({ length: blockSize }, (_, place) => ({
    id: place + 1,
    groupKey: isMatching(place) ? "a" : "b",
    createdAt: timeOf(0),
  }));
  const [read] = check(all, { matching: (key) => key === "a", limit: 50, offset });
  if (read?.way !== "range") throw new Error("The block is not read as a range");
  const isSent = ({ id, groupKey }: Member) => groupKey === "a" && id >= read.fromId && id <= read.toId;
  expect(all.filter(isSent).length).toBeLessThanOrEqual(most);
});

test.each([
  [0, { fromId: 351, toId: 1024, descending: true }],
  [350, { fromId: 1, toId: 674, descending: false }],
])("a block is read from its nearer end (offset %i)", (offset, range) => {
  const all = Array.from({ length: 400 }, (_, index) => ({
    id: index + 1,
    groupKey: "a",
    createdAt: timeOf(0),
  }));
  expect(check(all, { matching: () => true, limit: 50, offset })).toMatchObject([range]);
});
