/** The schemas of texts accept exactly what their `maxLength` and `pattern` say in openapi.json. */
import { describe, expect, test } from "vitest";
import { text } from "../../shared/contract/text.ts";

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
