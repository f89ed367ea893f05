/** The schemas of texts accept exactly what their `maxLength` and `pattern` say in openapi.json. */
import { describe, expect, test } from "vitest";
import { quoted } from "../../shared/aws/mail/quoted.ts";
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

describe("a name in a mail to a stranger", () => {
  test.each([
    ["Acme", "“Acme”"],
    ["Booking.com", "“Booking\u200b.com”"],
    ["Acme” closed. Pay at “X", "“Acme' closed. Pay at 'X”"],
    ["x".repeat(100), `“${"x".repeat(59)}…”`],
  ])("%s is %s", (name, shown) => expect(quoted(name)).toBe(shown));
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
    ["a combining joiner of graphemes", "Ac\u034fme"],
    ["an empty pattern of Braille", "\u2800\u2800"],
    ["a selector of variations behind a letter", "Ac\ufe0fme"],
    ["a joiner between Latin letters", "Ac\u00e9\u200d\u00e9me"],
    ["a joiner between Cyrillic letters", "\u0410\u200c\u0411"],
    ["a vowel of Khmer that has no shape", "Acme\u17b5"],
  ])("holds no %s", (_, name) => expect(accepts(name)).toBe(false));

  test.each([
    "Acme https://evil.example",
    "javascript://x",
    "www.evil.example",
    "WWW.evil.example",
    "Pay at evil.example/login",
    "evil.example?x=1",
    "mailto:eve@evil.example",
    "evil\u3002example/login",
    "evil.xn--p1ai/login",
    "192.0.2.1/login",
    "see hxxp://evil.example",
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
    "Café 3.5/4",
    "\u2764\ufe0f Team 1\ufe0f\u20e3",
    "\u845b\u{e0100}\u57ce",
  ])("can be %s", (name) => expect(accepts(name)).toBe(true));
});
