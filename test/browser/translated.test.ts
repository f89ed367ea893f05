/** A page that a browser's translator has changed: what it shows later is right, and names stay as they are. */
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { createScanned, type Scanned } from "../service/scanned.ts";
import { places } from "./axe.ts";
import { translator } from "./translator.ts";
import { isLoaded, signInTo, urlOf, useBrowser, type Visit } from "./visit.ts";

useBrowser();

let known: Scanned;
beforeAll(async () => {
  known = await createScanned(["ada", "grace"]);
});

const translated = async (place: string): Promise<Visit> => {
  const opened = await signInTo(known);
  await opened.page.context().addInitScript(translator);
  await opened.page.goto(urlOf(place));
  await isLoaded(opened.page);
  return opened;
};

const about = async (page: Page, text: string): Promise<void> => {
  await expect.poll(() => page.locator(".page-head .muted").innerText()).toBe(text);
  const [total] = /\d+/.exec(text) ?? [];
  expect(await page.locator("tbody tr").count()).toBe(Number(total));
};

describe("a translated page", () => {
  test("keeps counting what is selected and what matches as it changes", async () => {
    const of = async (severity: string) => (await known.api.get(`/breaches?severity=${severity}`)).body.total;
    const [high, medium] = [await of("high"), await of("medium")];
    expect(high).not.toBe(medium);
    const { page } = await translated("/findings");
    await about(page, "7 open*");
    const boxes = page.getByRole("rowgroup").last().getByRole("checkbox");
    for (const [index, text] of ["1 selected*", "2 selected*"].entries()) {
      await boxes.nth(index).check();
      await expect.poll(() => page.locator(".selection strong").innerText()).toBe(text);
    }
    await page.getByLabel("Severity").selectOption("high");
    await about(page, `${high} match, 7 open in all*`);
    await expect.poll(() => page.locator(".selection strong").innerText()).toBe("None selected*");
    await page.getByLabel("Severity").selectOption("medium");
    await about(page, `${medium} ${medium === 1 ? "matches" : "match"}, 7 open in all*`);
    await page.goBack();
    await about(page, `${high} match, 7 open in all*`);
    await page.goBack();
    await about(page, "7 open*");
  });

  test("leaves addresses, names, breaches, domains and code unchanged", async () => {
    const { page } = await translated("/findings");
    const row = page.getByRole("row", { name: "ada@demo.example" }).first();
    await row.waitFor();
    const titles = await row.getByRole("cell").allInnerTexts();
    expect(titles.filter((text) => text.includes("(invented)*"))).toEqual([]);
    await row.getByRole("button").click();
    const dialog = page.getByRole("dialog");
    // The word between the names is translated.
    await expect
      .poll(() => dialog.getByRole("heading").first().innerText())
      .toMatch(/^ada@demo\.example in \*Example .* \(invented\)$/);
    await page.keyboard.press("Escape");
    for (const [place, names] of [
      ["/emails", ["ada@demo.example"]],
      ["/domains", ["demo.example"]],
      ["/breaches", ["Example Shop (invented)"]],
      ["/settings/members", [/^browser-.*@demo\.example$/]],
    ] as const) {
      await page.goto(urlOf(place));
      await isLoaded(page);
      for (const name of names) await page.getByText(name, { exact: true }).first().waitFor();
      expect(await page.getByText(/\.example\*|\(invented\)\*/).count()).toBe(0);
    }
  });

  test("says what was done, and takes back what it said", async () => {
    const { page } = await translated("/emails");
    const row = page.getByRole("row", { name: "grace@demo.example" });
    await row.getByRole("button", { name: "Disable" }).click();
    const said = page.locator(".status").getByRole("status");
    await expect.poll(() => said.innerText()).toMatch(/^grace@demo\.example is disabled\.\*$/);
    await row.getByRole("button", { name: "Enable" }).click();
    await expect.poll(() => said.innerText()).toMatch(/^grace@demo\.example is enabled\.\*$/);
    await expect.poll(() => said.innerText()).toBe("");
  });

  test("goes from page to page without an error", async () => {
    const { page } = await translated("/");
    for (const place of [...places, ...places.toReversed()]) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(urlOf(place))});
        dispatchEvent(new PopStateEvent("popstate"))`);
      await isLoaded(page);
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
    }
  });
});
