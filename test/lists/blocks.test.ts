import { describe, expect, test } from "vitest";
import { blockOf, blockSize, drawId, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { useEngine } from "../aws/table/engine.ts";

useEngine();

const time = (second: number): string => new Date(Date.UTC(2030, 0, 1) + second * 1_000).toISOString();

const expectInOrder = (reserved: Reserved[]): void => {
  const byId = [...reserved].sort((one, other) => one.id - other.id);
  expect(new Set(byId.map((each) => each.id)).size).toBe(reserved.length);
  for (const [index, each] of byId.entries()) {
    expect(each.block).toBe(blockOf(each.id));
    const before = byId[index - 1];
    if (before === undefined) continue;
    expect(each.createdAt >= before.createdAt).toBe(true);
    expect(each.createdAt >= each.blockFrom).toBe(true);
    if (before.block < each.block) expect(before.createdAt <= each.blockFrom).toBe(true);
    if (before.block === each.block) expect(each.blockFrom).toBe(before.blockFrom);
  }
};

test("single ids start at 1 and are never given twice, even to simultaneous callers", async () => {
  expect(await drawId("TEAM")).toBe(1);
  const ids = await Promise.all(Array.from({ length: 30 }, () => drawId("TEAM")));
  expect(new Set([1, ...ids]).size).toBe(31);
});

describe("reserve", () => {
  test("gives an organization ids in sequence, and no id to two of them", async () => {
    const one = await reserve(1, "EMAIL", 2);
    const two = await reserve(2, "EMAIL", 2);
    const three = await reserve(1, "EMAIL", 1);
    expect(three[0]?.id).toBe((one[0]?.id ?? 0) + 2);
    expect(new Set([...one, ...two, ...three].map((each) => each.id)).size).toBe(5);
    expect(one[0]?.block).not.toBe(two[0]?.block);
  });

  test("continues past the end of a block, and gives thousands in whole blocks", async () => {
    const all = [
      ...(await reserve(3, "EMAIL", 500)),
      ...(await reserve(3, "EMAIL", 30)),
      ...(await reserve(3, "EMAIL", 3_000)),
      ...(await reserve(3, "EMAIL", blockSize)),
      ...(await reserve(3, "EMAIL", 1)),
    ];
    expect(all.length).toBe(500 + 30 + 3_000 + blockSize + 1);
    expectInOrder(all);
    // No other organization drew a block in between: the current block was used up first, and there is no
    // gap.
    expect((all.at(-1)?.id ?? 0) - (all[0]?.id ?? 0)).toBe(all.length - 1);
  });

  test("keeps times in the order of ids across clocks and concurrent calls", async () => {
    const countOf = (index: number) => 1 + ((index * 53) % 90) + (index % 8 === 0 ? blockSize : 0);
    const clocks = Array.from({ length: 40 }, (_, index) => time((index * 37) % 30));
    const reserved = await Promise.all(
      clocks.map((at, index) => reserve(4, "FINDING", countOf(index), { at })),
    );
    expect(reserved.flat().length).toBe(clocks.reduce((sum, _, index) => sum + countOf(index), 0));
    expectInOrder(reserved.flat());
    for (const [index, group] of reserved.entries()) {
      expect(group.every((each) => each.createdAt >= (clocks[index] ?? ""))).toBe(true);
      const ids = group.map((each) => each.id);
      expect(ids).toEqual([...ids].sort((one, other) => one - other));
    }
  });
});
