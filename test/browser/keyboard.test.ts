import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createUser, isLoaded, linkFor, signInTo, useBrowser, visit } from "./visit.ts";

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

/** Goes to another page by the navigation, and waits until it is there. */
const follow = async (page: Page, name: string): Promise<void> => {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await isLoaded(page);
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

  test("signs in with a link, acknowledges a finding, and signs out", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId);
    await scan(api);
    const { page } = await visit();
    await page.goto(await linkFor(await createUser(organization.id)));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await tabTo(page, "Sign in");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Findings by month" }).waitFor();
    await follow(page, "Findings");
    await tabTo(page, "ada@demo.example");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").getByText("Breached").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("ada@demo.example");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Shift+Tab");
    expect(await focused(page)).toBe("Acknowledge");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("i");
    await page.keyboard.press("Tab");
    await page.keyboard.type("It is an old address");
    await tabTo(page, "Acknowledge");
    await page.keyboard.press("Enter");
    await page.getByText("Acknowledged 1 finding.").waitFor();
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject([{ resolution: "ignored", acknowledgeReason: "It is an old address" }]);
    await tabTo(page, "Sign out");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  });

  test("adds a domain and a channel, starts a scan, creates and revokes an API key", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId);
    const { page } = await signInTo(organization);
    const dialog = page.getByRole("dialog");
    await follow(page, "Domains");
    await tabTo(page, "Add domain");
    await page.keyboard.press("Enter");
    await page.keyboard.type("keyboard.example");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "keyboard.example" }).waitFor();

    await follow(page, "Alerts");
    await tabTo(page, "Add channel");
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("security@demo.example");
    await tabTo(page, "Add channel");
    await page.keyboard.press("Enter");
    await page.getByText("security@demo.example").waitFor();

    await follow(page, "Scans");
    await tabTo(page, "Start scan");
    await page.keyboard.press("Enter");
    await page.getByText("Completed", { exact: true }).nth(1).waitFor();

    await follow(page, "Settings");
    await tabTo(page, "API keys");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tab", { name: "Members", selected: true }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("tab", { name: "API keys", selected: true }).waitFor();
    await page.getByRole("button", { name: "Create API key" }).waitFor();
    await tabTo(page, "Create API key");
    await page.keyboard.press("Enter");
    await page.keyboard.type("Of the keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Your new API key" }).waitFor();
    await tabTo(page, "Close");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "Of the keyboard" }).waitFor();
    await tabTo(page, "Revoke");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Revoke Of the keyboard?" }).waitFor();
    await tabTo(page, "Revoke");
    await page.keyboard.press("Enter");
    await page.getByRole("row").filter({ hasText: "Of the keyboard" }).getByText("Revoked").waitFor();
  });
});
