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
  ["\t=1", "'\t=1"],
  ["\r=1", '"\'\r=1"'],
  ['=HYPERLINK("https://x.example")', '"\'=HYPERLINK(""https://x.example"")"'],
])("a cell that a spreadsheet would take for a formula gets an apostrophe: %j", (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test.each([
  ["plain", "plain"],
  ["a,b", '"a,b"'],
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

test("whatever the text, cells read back as they were and none begins like a formula", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter }), { minLength: 1, maxLength: 5 }), (texts) => {
      const [cells = []]: string[][] = parse(csvLine(texts), { record_delimiter: "\r\n" });
      expect(cells.map((cell, index) => (cell === texts[index] ? cell : cell.slice(1)))).toEqual(texts);
      for (const cell of cells) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
    }),
  );
});
