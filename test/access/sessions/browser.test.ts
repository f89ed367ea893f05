import { expect, test } from "vitest";
import { browserOf } from "../../../shared/access/sessions/browser.ts";

const engine = "AppleWebKit/537.36 (KHTML, like Gecko)";
const chrome = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${engine} Chrome/140.0.0.0 Safari/537.36`;

test.each([
  ["Firefox on Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"],
  ["Chrome on Windows", chrome],
  ["Edge on Windows", `${chrome} Edg/140.0.0.0`],
  [
    "Safari on iOS",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1",
  ],
  ["Chrome on Android", `Mozilla/5.0 (Linux; Android 15) ${engine} Chrome/140.0.0.0 Mobile Safari/537.36`],
  ["Firefox", "Mozilla/5.0 (Unknown; rv:140.0) Gecko/20100101 Firefox/140.0"],
  [undefined, "curl/8.5.0"],
  [undefined, undefined],
])("%s is what the header names", (browser, header) => {
  expect(browserOf(header)).toBe(browser);
});
