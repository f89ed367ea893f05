import fc from "fast-check";
import { expect, test } from "vitest";
import { allPages } from "../../dashboard/api/all-pages.ts";

/** What happens to a list between two pages: how many rows are added in front, and which share of the others leaves. */
const happening = fc.record({
  added: fc.nat(250),
  left: fc.double({ min: 0, max: 1, noNaN: true }),
  seed: fc.nat(),
});

/** All rows that are read from a list of so many, newest first, while this happens to it. */
const readWhile = async (
  size: number,
  happenings: readonly { added: number; left: number; seed: number }[],
) => {
  let list = Array.from({ length: size }, (_, index) => ({ id: size - index }));
  const before = new Set(list.map(({ id }) => id));
  let nextId = size;
  let asked = 0;
  const ask = async ({ limit, offset }: { limit: number; offset: number }) => {
    const { added, left, seed } = happenings[asked - 1] ?? { added: 0, left: 0, seed: 0 };
    asked += 1;
    list = list.filter(({ id }) => (((id + 1) * (seed + 7919)) % 1009) / 1009 >= left);
    for (let each = 0; each < added; each += 1) list.unshift({ id: ++nextId });
    return { all: list.slice(offset, offset + limit), total: list.length };
  };
  const ids: number[] = [];
  for await (const { rows } of allPages("all", ask)) ids.push(...rows.map(({ id }) => id));
  const stayed = list.filter(({ id }) => before.has(id)).map(({ id }) => id);
  return { ids, stayed, asked };
};

test("every row that stays is read once, whatever is added and leaves meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1000), fc.array(happening, { maxLength: 20 }), async (size, happenings) => {
      const { ids, stayed } = await readWhile(size, happenings);
      const read = new Set(ids);
      expect(read.size).toBe(ids.length);
      expect(stayed.filter((id) => !read.has(id))).toEqual([]);
    }),
  );
});

test.each([
  [0, 1],
  [1, 1],
  [100, 1],
  [101, 2],
  [1000, 11],
])("a list of %d rows that stays as it is takes %d requests", async (size, requests) => {
  const { ids, asked } = await readWhile(size, []);
  expect(ids).toHaveLength(size);
  expect(asked).toBe(requests);
});

test("a total that is too large ends with the last row", async () => {
  for (const size of [0, 1, 50, 100, 150, 199]) {
    const list = Array.from({ length: size }, (_, id) => ({ id }));
    const ids: number[] = [];
    const pages = allPages("all", async ({ limit, offset }) => ({
      all: list.slice(offset, offset + limit),
      total: 300,
    }));
    for await (const { rows } of pages) ids.push(...rows.map(({ id }) => id));
    expect(ids).toEqual(list.map(({ id }) => id));
  }
});
