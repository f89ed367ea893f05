import { expect, test } from "vitest";
import { withoutInvisible } from "../../dashboard/text/invisible.ts";
import { isPlotted } from "../../dashboard/text/months.ts";
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
    "7 of 11 checked, 4 could not be: 1 failed and will be checked again by the next scan; 2 " +
      "were not reached and keep an earlier result; 1 is on unverified domains.",
  ],
])("the coverage %j in words", (coverage, words) => {
  expect(coverageInWords(coverage)).toBe(words);
});

test.each([
  ["v=spf1 include:mail.example -all", "v=spf1 include:mail.example -all"],
  ["breach-monitor=1 ", "breach-monitor=1␣"],
  ["  breach-monitor=1", "␣␣breach-monitor=1"],
  ["breach-monitor=1   2", "breach-monitor=1 ␣␣2"],
  ["breach\u00a0monitor\u200b", "breach[U+00A0]monitor[U+200B]"],
  ["a\tb\u0000", "a[U+0009]b[U+0000]"],
  ["", ""],
])("%j shows what nobody sees", (text, shown) => {
  expect(withoutInvisible(text)).toBe(shown);
});

const none = { open: 0, acknowledged: 0 };
const some = { open: 1, acknowledged: 2 };

test("months are plotted from the third month on, counted from the first with findings", () => {
  expect(isPlotted([none, none, none])).toBe(false);
  expect(isPlotted([none, none, some])).toBe(false);
  expect(isPlotted([none, some, some])).toBe(false);
  expect(isPlotted([some, none, none])).toBe(true);
});
