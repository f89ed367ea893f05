import fc from "fast-check";
import { expect, test } from "vitest";
import { textOfHtml } from "../../dashboard/text/html.ts";

test.each([
  ['In <b>2026</b>, <a href="https://x.example">Example</a> lost data', "In 2026, Example lost data"],
  ["passwords &mdash; &quot;bcrypt&quot; &amp; more&#33;&#x2014;", 'passwords — "bcrypt" & more!—'],
  ["one<br>two<br />three<p>four</p>", "one\ntwo\nthree\nfour"],
  ["a  \t b\n\n\nc", "a b\nc"],
  ["before <script>alert(1)</script> after", "before after"],
  ["before <style>p{}</style>after", "before after"],
  ["<!-- hidden -->shown", "shown"],
  ['<img alt="a > b" src=x onerror=alert(1)>text', "text"],
  ["3 < 4 and 5 > 2", "3 < 4 and 5 > 2"],
  ["unclosed <b", "unclosed"],
  ["</ p> <> <1", "</ p> <> <1"],
  ["&unknown; &#0; &#55296;", "&unknown;"],
  ["&lt;script&gt; stays a text", "<script> stays a text"],
  ["", ""],
])("%j reads as %j", (html, text) => {
  expect(textOfHtml(html)).toBe(text);
});

test("text without markup stays as it is but for its spaces", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[\p{L}\d .,!?]*$/u), (text) => {
      expect(textOfHtml(text)).toBe(text.replace(/\s+/g, " ").trim());
    }),
  );
});

test("a long description takes no time, however it is nested or left open", () => {
  for (const part of ["<", "<b", '<a href="', "<!--", "<script", "&#", "<b>", '<a "'] as const) {
    // CPU time, since elapsed time would depend on what else the machine does.
    const before = process.threadCpuUsage();
    textOfHtml(part.repeat(20_000));
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000, part).toBeLessThan(1_000);
  }
});
