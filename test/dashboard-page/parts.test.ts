import { describe, expect, test } from "vitest";
import { decode } from "../../dashboard/pages/emails/encoding.ts";
import { partsOf } from "../../dashboard/pages/emails/file-parts.ts";

const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `person-${index}@demo.example`);

describe("parts of a file", () => {
  test("a file that one import takes is one part", () => {
    expect(partsOf(addresses(500).join("\n"), 500)).toHaveLength(1);
    expect(partsOf("", 500)).toEqual([]);
  });

  test("have the header each, and together all rows once, in order", () => {
    const rows = addresses(1201).map((address) => `"${address}","Name, with ""quotes"""`);
    const parts = partsOf(["Exported today", "email,name", ...rows].join("\r\n"), 500);
    expect(parts.map((part) => part.split("\n").length)).toEqual([502, 502, 203]);
    for (const part of parts) expect(part).toMatch(/^Exported today\nemail,name\n"person/);
    expect(parts.flatMap((part) => part.split("\n").slice(2))).toEqual(rows);
  });

  test.each([
    ["an address in a line above", "Owner:;hr@demo.example;\n;;\nName;E-Mail;Team"],
    ["an address in each line above", "Owner:;hr@demo.example\nBy:;it@demo.example\nName;E-Mail"],
    ["an example in the header", "Name;E-Mail (jane.doe@demo.example);Team"],
    ["fifty lines above", `${"Setting;1\n".repeat(50)}Name;E-Mail;Team`],
  ])("each part has the header, with %s", (_, header) => {
    const rows = addresses(4).map((address) => `Ada;${address};Ops`);
    expect(partsOf([header, ...rows].join("\n"), 2)).toEqual([
      [header, ...rows.slice(0, 2)].join("\n"),
      [header, ...rows.slice(2)].join("\n"),
    ]);
  });

  test("people above a row without an address are no header", () => {
    const rows = ["Ada;ada@demo.example;Ops", "Mail room;;Ops", "Bob;bob@demo.example;Ops"];
    expect(partsOf(rows.join("\n"), 2)).toEqual([rows.slice(0, 2).join("\n"), rows[2]]);
  });

  test("keep cells of several lines whole; an open quote joins no rows", () => {
    const row = 'a@demo.example,"one\ntwo"';
    expect(partsOf([row, row, row].join("\n"), 1)).toEqual([row, row, row]);
    expect(partsOf('a@demo.example,"open\nb@demo.example', 1)).toEqual([
      'a@demo.example,"open',
      "b@demo.example",
    ]);
  });

  test("count addresses, not rows, and have less than 256 KB each", () => {
    expect(partsOf(["a@b.example;c@d.example", "e@f.example"].join("\n"), 2)).toHaveLength(2);
    const long = addresses(10).map((address) => `${address},${"x".repeat(100_000)}`);
    for (const part of partsOf(long.join("\n"), 500)) expect(part.length).toBeLessThan(262_144);
  });
});

test.each([
  ["UTF-8", Buffer.from("J\u00fcrgen\r"), undefined],
  ["UTF-16 with its mark", Buffer.from("\ufeffJ\u00fcrgen\r", "utf16le"), undefined],
  ["Windows-1252", Buffer.from("J\u00fcrgen\r\n", "latin1"), "Windows-1252"],
  ["Mac OS Roman, where lines end as they did there", Buffer.from("J\u009frgen\r", "latin1"), "Mac OS Roman"],
])("text is read as %s", (_, bytes, guess) => {
  const { text, ...rest } = decode(bytes);
  expect([text.trim(), rest]).toEqual(["J\u00fcrgen", guess === undefined ? {} : { guess }]);
});
