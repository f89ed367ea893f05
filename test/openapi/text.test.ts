/** The schemas of texts accept exactly what their `maxLength` and `pattern` say in openapi.json. */
import { describe, expect, test } from "vitest";
import { nameOf, text } from "../../shared/contract/text.ts";

const accepts = (value: string, options: { multiline?: boolean } = {}): boolean =>
  text(3, options).safeParse(value).success;

describe("text", () => {
  test("is measured in characters as JSON Schema counts them, an emoji as one", () => {
    expect(accepts("😀😀😀")).toBe(true);
    expect(accepts("😀😀😀!")).toBe(false);
  });

  test.each(["\u0000", "\u001b", "\u007f", "\u0085"])("holds no control character such as %j", (control) => {
    expect(accepts(control)).toBe(false);
    expect(accepts(control, { multiline: true })).toBe(false);
  });

  test("holds tabs and newlines only where they may occur", () => {
    expect(accepts("\t\r\n", { multiline: true })).toBe(true);
    for (const alone of ["a\rb", "\n\r", "\r\r\n"]) expect(accepts(alone, { multiline: true })).toBe(false);
    for (const control of ["\t", "\r", "\n"]) expect(accepts(control)).toBe(false);
  });

  test("holds no half of a character", () => {
    expect(accepts("\ud83d")).toBe(false);
  });
});

describe("a name", () => {
  const accepts = (name: string): boolean => nameOf(100).safeParse(name).success;

  test.each([
    ["a bidirectional override", "Acme \u202egpj.exe"],
    ["a zero-width space", "Ac\u200bme"],
    ["a joiner beside ASCII", "Ac\u200dme"],
    ["a soft hyphen", "Ac\u00adme"],
    ["a byte order mark", "\u00a0A\ufeffB"],
    ["letters of a tag", "Acme\u{e0041}"],
    ["a filler of Hangul", "\u3164\u3164"],
    ["a separator of lines", "Acme\u2028Pay now"],
  ])("holds no %s", (_, name) => expect(accepts(name)).toBe(false));

  test.each([
    "Acme https://evil.example",
    "javascript://x",
    "www.evil.example",
    "WWW.evil.example",
    "Pay at evil.example/login",
    "evil.example?x=1",
    "mailto:eve@evil.example",
  ])("holds no link such as %s", (name) => expect(accepts(name)).toBe(false));

  test.each([
    "Booking.com",
    "Dr. No",
    "St.Mary",
    "R&D: Berlin",
    "علی‌رضا",
    "👩‍💻 Team",
    "क्‍ष",
    "O'Neill / Ops",
  ])("can be %s", (name) => expect(accepts(name)).toBe(true));
});
