import { describe, expect, inject, test } from "vitest";
import { urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

describe("a watched page", () => {
  test.each([
    ["an error on the console", `console.error("wrong")`, /^wrong$/],
    ["an exception", `setTimeout(() => { throw new Error("thrown"); })`, /thrown/],
    [
      "a report of the Content-Security-Policy",
      `document.body.append(Object.assign(new Image(), { src: "https://elsewhere.example/pixel.png" }))`,
      /^Content-Security-Policy img-src https:\/\/elsewhere\.example/,
    ],
    ["a refusal that nobody expected", `fetch("/api/v1/emails")`, /^401 \/api\/v1\/emails$/],
  ])("tells of %s", async (_, script, wrong) => {
    const { page, watch } = await visit();
    await page.goto(urlOf("/sign-in"));
    await page.getByText("sign-in link").first().waitFor();
    await page.evaluate(`{ ${script}; 0 }`);
    await expect.poll(() => watch.take().join("\n")).toMatch(new RegExp(wrong, "m"));
    // Chromium may log a sentence of its own later.
    await page.context().close();
    watch.take();
  });

  test("tells of a request to another host", async () => {
    const { page, watch } = await visit();
    await page.goto(`${inject("receiverUrl")}/browser`);
    await page.context().close();
    expect(watch.take()).toContain(`request to ${inject("receiverUrl")}/browser`);
  });
});
