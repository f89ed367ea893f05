import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import { csvCell, csvLine } from "../../dashboard/text/csv.ts";
import { anyCharacter } from "../any-character.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["+1", "'+1"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "\"'\t'=1\""],
  ["\r=1", "\"'\r'=1\""],
  ["\n=1", "\"'\n'=1\""],
  ["\tAda", '"\'\tAda"'],
  ["＝1＋1", "'＝1＋1"],
  ["＋1", "'＋1"],
  ["－1", "'－1"],
  ["＠SUM(A1)", "'＠SUM(A1)"],
  ["﹦1", "'﹦1"],
  [" =1", "' =1"],
  ["\u200b=1", "'\u200b=1"],
  ["\ufeff\u3000\u3164=1", "'\ufeff\u3000\u3164=1"],
  ['"=1"', '"\'""=1"""'],
  ["x;=1", '"x;\'=1"'],
  ["x; ＝1", '"x;\' ＝1"'],
  ["x\t\u200d@A1", '"x\t\'\u200d@A1"'],
  ["two\n-lines", '"two\n\'-lines"'],
  ['x;"=1', '"x;\'""=1"'],
  ['=HYPERLINK("https://x.example")', '"\'=HYPERLINK(""https://x.example"")"'],
])("a cell that a spreadsheet would take for a formula gets an apostrophe: %j", (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test.each([
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ["Passwords; E-mail addresses", '"Passwords; E-mail addresses"'],
  ["a\tb", '"a\tb"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\nlines", '"two\nlines"'],
  [null, ""],
  [12, "12"],
  [-12, "'-12"],
  ["ada@demo.example", "ada@demo.example"],
  ["a=b", "a=b"],
])("%j is the cell %j", (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test("a line ends as RFC 4180 says", () => {
  expect(csvLine(["a", 1, null, true])).toBe("a,1,,true\r\n");
});

test("whatever the text, cells read back as they were, but for apostrophes", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter }), { minLength: 1, maxLength: 5 }), (texts) => {
      const [cells = []]: string[][] = parse(csvLine(texts), { record_delimiter: "\r\n" });
      const without = (all: string[]) => all.map((each) => each.replaceAll("'", ""));
      expect(without(cells)).toEqual(without(texts));
    }),
  );
});

// Quotes mean nothing to a spreadsheet that does not take the comma for its separator.
test.each([";", "\t", "\n", "\r"])(
  "no cell begins like a formula for a reader that separates by %j",
  (separator) => {
    const unit = fc.constantFrom(..."=+-@＝＠a ;,\t\n\r\"'\u200b");
    fc.assert(
      fc.property(fc.array(fc.string({ unit }), { minLength: 1, maxLength: 4 }), (texts) => {
        for (const cell of csvLine(texts).split(separator))
          expect(cell).not.toMatch(/^[\s"\u200b]*[=+\-@＝＠]/);
      }),
    );
  },
);
