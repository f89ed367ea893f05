import { expect, test } from "vitest";
import { count, coverageInWords, money, number } from "../../dashboard/text/words.ts";

test("numbers have separators, and what is counted its plural", () => {
  expect(number(1_204_000)).toBe("1,204,000");
  expect([0, 1, 2].map((value) => count(value, "finding"))).toEqual([
    "0 findings",
    "1 finding",
    "2 findings",
  ]);
  expect(count(3, "address", "addresses")).toBe("3 addresses");
  expect([0, 5, 120_050].map(money)).toEqual(["0.00", "0.05", "1,200.50"]);
});

test.each([
  [{ checked: 0, failed: 0, stale: 0, skipped: 0 }, "There was nothing to check."],
  [{ checked: 1000, failed: 0, stale: 0, skipped: 0 }, "All 1,000 checked."],
  [{ checked: 1, failed: 0, stale: 0, skipped: 0 }, "The only address was checked."],
  [
    { checked: 998, failed: 0, stale: 0, skipped: 2 },
    "998 of 1,000 checked, 2 could not be: 2 are on unverified domains.",
  ],
  [
    { checked: 7, failed: 1, stale: 2, skipped: 1 },
    "7 of 11 checked, 4 could not be: 1 failed and will be checked again by the next scan; 2 were not reached and keep an earlier result; 1 is on unverified domains.",
  ],
])("the coverage %j in words", (coverage, words) => {
  expect(coverageInWords(coverage)).toBe(words);
});
