/** The pure functions of folds: what a fold is, and what it says together with own rows. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextChange } from "../../shared/lists/compact.ts";
import { blocksIn, type DirectoryRows, foldAttributes, sectionsOf } from "../../shared/lists/directory.ts";
import { emptyFold, type Fold, foldLimits, type OwnRow, withRows } from "../../shared/lists/fold.ts";

const row = (block: number, counts: Record<string, number>, life = `life${block}`, writes = 1): OwnRow => ({
  block,
  part: 0,
  from: "2030-01-01T00:00:00.000Z",
  counts: new Map(Object.entries(counts)),
  life,
  writes,
});

const rowsOf = (own: OwnRow[], folds: Fold[]): DirectoryRows => ({ taken: 9, own, folds, rare: new Map() });

const fold = (rows: OwnRow[], own = rows, before = emptyFold(0), limits = foldLimits): Fold =>
  withRows(before, { rows, own, number: before.number + 1, isTimed: true, limits });

const countsOf = (rows: DirectoryRows) =>
  Object.fromEntries(
    blocksIn(sectionsOf(rows)).map(({ block, counts }) => [
      block,
      Object.fromEntries([...counts].filter(([, count]) => count !== 0)),
    ]),
  );

test("a fold and the own rows say the same of every block, whichever rows are deleted", () => {
  const counts = fc.dictionary(fc.constantFrom("a", "b-1", "c"), fc.integer({ min: -3, max: 500 }), {
    minKeys: 1,
  });
  const rows = fc.uniqueArray(fc.record({ block: fc.nat(40), counts, later: counts }), {
    selector: ({ block }) => block,
    minLength: 2,
    maxLength: 20,
  });
  const fate = fc.array(fc.constantFrom("stays", "deleted", "written", "made again"), {
    minLength: 20,
    maxLength: 20,
  });
  fc.assert(
    fc.property(rows, fate, (given, fates) => {
      const sorted = [...given].sort((one, other) => other.block - one.block);
      const own = sorted.map(({ block, counts }) => row(block, counts));
      const made = JSON.parse(JSON.stringify(fold(own))) as Fold;
      const expected: Record<number, Record<string, number>> = {};
      const left = sorted.flatMap(({ block, counts, later }, index): OwnRow[] => {
        const isWritten = fates[index] === "written" || fates[index] === "made again";
        const sum: Record<string, number> = { ...counts };
        if (isWritten) for (const [key, by] of Object.entries(later)) sum[key] = (sum[key] ?? 0) + by;
        expected[block] = Object.fromEntries(Object.entries(sum).filter(([, count]) => count !== 0));
        if (fates[index] === "deleted") return [];
        if (fates[index] === "made again") return [row(block, later, "another life")];
        return [row(block, sum, undefined, isWritten ? 2 : 1)];
      });
      expect(countsOf(rowsOf(left, [made]))).toEqual(expected);
      // Taking the same rows again changes nothing.
      const again = fold(left, left, made);
      expect(countsOf(rowsOf(left, [again]))).toEqual(expected);
      expect(countsOf(rowsOf([], [fold([], [], again)]))).toEqual(expected);
    }),
    { seed: Number(process.env.SEED ?? 20_300_101), numRuns: 300 },
  );
});

test("a block without members is still known, and times stay as they were", () => {
  const made = fold([row(7, { a: 0 }), row(5, { a: 2 })]);
  expect(blocksIn(sectionsOf(rowsOf([], [made])))).toMatchObject([
    { block: 7, from: "2030-01-01T00:00:00.000Z" },
    { block: 5, from: "2030-01-01T00:00:00.000Z" },
  ]);
});

describe("a fold takes no further blocks", () => {
  test("when it has 64, and the next block goes into the next fold", () => {
    const own = Array.from({ length: 70 }, (_, index) => row(70 - index, { a: 1 }));
    const first = nextChange(rowsOf(own, []), foldLimits);
    expect(first?.taking.map(({ block }) => block)).toEqual(
      Array.from({ length: 64 }, (_, index) => index + 1),
    );
    const made = fold([...(first?.taking ?? [])], own);
    expect(made).toMatchObject({ index: 0, isFull: true, last: 64 });
    expect(nextChange(rowsOf(own.slice(0, 6), [made]), foldLimits)).toMatchObject({
      fold: { index: 1 },
      taking: [65, 66, 67, 68, 69].map((block) => ({ block })),
    });
  });

  test("for good: a fold that was full stays full when its counters get shorter", () => {
    const limits = { blocks: 64, characters: 30 };
    const own = [row(2, { a: 100, b: 100 }), row(1, { a: 100, b: 100 })];
    const full = fold(own, own, emptyFold(0), limits);
    expect(full.isFull).toBe(true);
    const emptied = [row(2, { a: -100, b: -100 }, "new"), row(1, { a: -100, b: -100 }, "new")];
    expect(fold(emptied, emptied, full, limits)).toMatchObject({ groups: {}, empty: [1, 2], isFull: true });
  });
});

test("a fold forgets the rows that it took once they are deleted", () => {
  const own = [row(3, { a: 1 }), row(2, { a: 1 }), row(1, { a: 1 })];
  const made = fold(own);
  expect(Object.keys(made.taken)).toHaveLength(3);
  expect(Object.keys(fold([], own.slice(0, 1), made).taken)).toEqual(["3"]);
  expect(Object.keys(fold([], [row(3, { a: 1 }, "another life")], made).taken)).toEqual([]);
});

test("a fold without room for more groups still takes one block", () => {
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`${index}-1`, 1]));
  const change = nextChange(
    rowsOf(
      [3, 2, 1].map((block) => row(block, many)),
      [],
    ),
    { blocks: 64, characters: 10 },
  );
  expect(change?.taking.map(({ block }) => block)).toEqual([1]);
});

test("a row stays below the 400 KB of DynamoDB with 512 groups in every block", () => {
  const many = Object.fromEntries(
    Array.from({ length: 512 }, (_, index) => [`${100_000 + index}-${index}-1`, 1]),
  );
  const own = Array.from({ length: 64 }, (_, index) => row(1_000_064 - index, many));
  const change = nextChange(rowsOf(own, []), foldLimits);
  const made = fold([...(change?.taking ?? [])], own);
  expect(foldAttributes(made).fold.length).toBeLessThan(350_000);
});
