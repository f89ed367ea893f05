import { beforeAll, describe, expect, inject, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { urlOf, useBrowser, type Visit, visit } from "./visit.ts";

useBrowser();

describe("a watched page tells of", () => {
  let visited: Visit;
  beforeAll(async () => {
    if (noBrowser !== undefined) return;
    visited = await visit();
    await visited.page.goto(urlOf("/sign-in"));
    await visited.page.getByText("sign-in link").first().waitFor();
  });

  test.each([
    ["an error on the console", `console.error("wrong")`, /^wrong$/],
    ["an exception", `setTimeout(() => { throw new Error("thrown"); })`, /thrown/],
    [
      "a report of the Content-Security-Policy",
      `document.body.append(Object.assign(new Image(), { src: "https://elsewhere.example/pixel.png" }))`,
      /^Content-Security-Policy img-src https:\/\/elsewhere\.example/,
    ],
    ["a refusal that nobody expected", `fetch("/api/v1/emails")`, /^401 \/api\/v1\/emails$/],
  ])("%s", async (_, script, wrong) => {
    const { page, watch } = visited;
    await page.evaluate(`{ ${script}; 0 }`);
    await expect.poll(() => watch.take().join("\n")).toMatch(new RegExp(wrong, "m"));
    // Chromium may log a sentence of its own later.
    await page.waitForTimeout(200);
    watch.take();
  });

  test("a request to another host", async () => {
    const { page, watch } = visited;
    await page.goto(`${inject("receiverUrl")}/browser`);
    await page.context().close();
    expect(watch.take()).toContain(`request to ${inject("receiverUrl")}/browser`);
  });
});
