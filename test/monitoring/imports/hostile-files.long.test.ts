import { describe, expect, test } from "vitest";
import { Refusal } from "../../../shared/contract/errors.ts";
import { extract } from "../../../shared/monitoring/imports/extract.ts";

describe("hostile files take linear time", () => {
  const size = 300 * 1024;
  const files: [string, string][] = [
    ["a single line", "a".repeat(size)],
    ["a long word beside an address", `a@b.example ${"a".repeat(size)}`],
    ["a long word in a column beside addresses", `email,notes\na@b.example,${"a".repeat(size)}`],
    ["at signs", "@".repeat(size)],
    ["quotes", '"'.repeat(size)],
    ["an unclosed quote", `email\n"${"a@b.example,x\n".repeat(size / 15)}`],
    ["closed and reopened quotes", '"a"b,'.repeat(size / 5)],
    ["closed and reopened quotes in one cell", `"a${'"b'.repeat(size / 2)}`],
    ["a stray quote below regular ones", `${'"a@b.example","x"\n'.repeat(size / 18)}a"b`],
    ["delimiters", ",;\t".repeat(size / 3)],
    ["lines", "\n".repeat(size)],
    ["headings", "email,name\n".repeat(size / 11)],
    ["columns of headings", "email,".repeat(size / 6)],
    ["columns of headings above as many rows", `x\n${"email,".repeat(30_000)}\n${"x\n".repeat(90_000)}`],
    [
      "empty rows below addresses in as many columns",
      `${"email,".repeat(30_000)}\n${"x@y,".repeat(30_000)}\n${",\n".repeat(60_000)}`,
    ],
    ["UTF-8 that was read as Windows-1252", "Ã¼".repeat(size / 4)],
    ["letters in a single line", "é".repeat(size / 2)],
    [
      "a long name beside many addresses",
      `Name,Contact\n${"n ".repeat(400_000)},${"a@b.example ".repeat(500)}`,
    ],
    ["brackets", "([<".repeat(size / 3)],
    ["brackets before an address", `${"<".repeat(size)}x@`],
    ["angle brackets of addresses", "<a@".repeat(size / 3)],
    ["at signs in angle brackets", `<${"@".repeat(size)}`],
    ["quotes behind addresses", `x@${"”".repeat(990)}x `.repeat(size / 3000)],
    ["words of at signs", `${"@".repeat(999)} `.repeat(size / 1000)],
    ["words before an address", `email\n${"a ".repeat(size / 2)}x@`],
    ["a word of digits in a column", `email\n${"1".repeat(size)} x@`],
    ["separators in a column", `email\n"x@y;${",;\n".repeat(size / 3)}"`],
    ["soft hyphens before addresses", `${"\u00ad".repeat(990)}x@ `.repeat(size / 2000)],
    ["dots behind an address", `x@${".".repeat(size)}x`],
    ["questions behind an address", `x@${"?@".repeat(size / 2)}`],
    ["schemes", `${"mailto:".repeat(size / 7)}@`],
    ["a dotted domain", `x@${"a.".repeat(size / 2)}`],
    ["a hyphenated domain", `x@${"a-".repeat(size / 2)}`],
  ];
  /** Milliseconds of CPU, since elapsed time would depend on what else the machine does. */
  const timeOf = (text: string): number => {
    const before = process.threadCpuUsage();
    try {
      extract(Buffer.from(text));
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal);
    }
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  };
  const ordinary = `email,name\n${"x,Somebody\n".repeat(80_000)}`;

  let ofOrdinary = 0;

  test.each(files)("%s", (_, text) => {
    // Fifteen times an ordinary file is about three seconds on a quiet machine. A busy machine slows both down.
    const mostFor = () => 15 * ofOrdinary;
    const hostile = timeOf(text);
    if (hostile >= mostFor()) ofOrdinary = Math.max(ofOrdinary, timeOf(ordinary));
    expect(hostile).toBeLessThan(mostFor());
  });
});
