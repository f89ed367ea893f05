import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";
import { focused, follow } from "./keyboard.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("the keyboard alone", () => {
  test("Tab reaches the navigation in order; Enter opens a page", async () => {
    const { page } = await signInTo(await createOrganization());
    await page.reload();
    await isLoaded(page);
    await page.getByRole("heading", { level: 1, name: "E-mails" }).waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 10; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await focused(page));
    }
    expect(reached).toEqual([
      "Skip to the content",
      "Overview",
      "Findings",
      "Breaches",
      "E-mails",
      "Domains",
      "Scans",
      "Alerts",
      "Activity",
      "Settings",
    ]);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
    await page.locator("h1:focus").waitFor();
    expect(await focused(page)).toBe("Activity");
  });

  test("keeps the focus where people have gone while a page loads", async () => {
    const { page } = await signInTo(await createScanned());
    await follow(page, "Breaches");
    const isThere = Promise.withResolvers<void>();
    await page.route("**/api/dashboard/findings?*", async (route) => {
      await isThere.promise;
      await route.continue();
    });
    // The worst breaches may have nobody but addresses that nobody watches, and then no list of people.
    const title = "Example Shop (invented)";
    await page.getByRole("rowheader").getByRole("link", { name: title }).click();
    await page.getByRole("combobox", { name: "State" }).focus();
    isThere.resolve();
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
    await page.getByRole("rowheader").first().waitFor();
    await page.getByRole("combobox", { name: "State" }).and(page.locator(":focus")).waitFor();
  });
});
