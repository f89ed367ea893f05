import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

const focused = async (page: Page): Promise<string> =>
  ((await page.locator(":focus").textContent()) ?? "").trim();

/** Presses Tab until the element with this text has the focus. */
const tabTo = async (page: Page, text: string): Promise<void> => {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    const focus = page.locator(":focus");
    if ((await focus.count()) === 1 && (await focused(page)) === text) return;
  }
  throw new Error(`Tab does not reach ${text}`);
};

describe("the keyboard alone", () => {
  test("Tab reaches the navigation in its order; Enter goes to a page and its heading", async () => {
    const { page } = await signInTo(await createOrganization());
    await page.reload();
    await isLoaded(page);
    await page.getByRole("heading", { level: 1, name: "E-mails" }).waitFor();
    const reached: string[] = [];
    for (let presses = 0; presses < 9; presses += 1) {
      await page.keyboard.press("Tab");
      reached.push(await focused(page));
    }
    expect(reached).toEqual([
      "Skip to the content",
      "Overview",
      "Findings",
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

  test("adds and removes an address; Esc closes a dialog and gives the focus back", async () => {
    const { api, ...organization } = await createOrganization();
    const { page } = await signInTo(organization);
    const dialog = page.getByRole("dialog");
    await tabTo(page, "Add e-mail");
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Add e-mail");

    await page.keyboard.press("Enter");
    await dialog.waitFor();
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
    await page.keyboard.type("ada@demo.example");
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
    await tabTo(page, "Remove");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Remove ada@demo.example?" }).waitFor();
    await tabTo(page, "Remove");
    await page.keyboard.press("Enter");
    await page.getByText("No address is watched yet.").waitFor();
    expect((await api.get("/emails")).body.total).toBe(0);
  });
});
