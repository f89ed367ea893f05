import { expect, test } from "vitest";
import { withoutInvisible } from "../../dashboard/text/invisible.ts";

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
