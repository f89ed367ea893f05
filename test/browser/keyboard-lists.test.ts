/** What is done to many rows of a list, and to files, by the keyboard alone. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { focused, follow, press, tabTo } from "./keyboard.ts";
import { signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** Selects the first rows, as many as said. */
const select = async (page: Page, rows: number): Promise<void> => {
  // The keys go on where they were before.
  for (const key of "kkx") await page.keyboard.press(key);
  for (let row = 1; row < rows; row += 1) for (const key of "jx") await page.keyboard.press(key);
  await page.getByText(`${rows} selected`).waitFor();
};

const isAtHeading = (page: Page) => page.locator("h1:focus").waitFor();

describe("the keyboard alone", () => {
  test("exports findings, acknowledges two and reopens them, in the list and one by one", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["grace", "donald"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    const acknowledged = async () => (await api.get("/breaches?acknowledged=true")).body.total;
    const { page } = await signInTo(organization);
    await follow(page, "Findings");
    const saved = page.waitForEvent("download");
    await press(page, "Export CSV");
    await saved;
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Export CSV");

    await select(page, 2);
    await page.keyboard.press("e");
    await page.getByRole("dialog", { name: "Acknowledge 2 findings" }).waitFor();
    await press(page, "Acknowledge");
    await page.getByText("Acknowledged 2 findings.").waitFor();
    await isAtHeading(page);
    expect(await acknowledged()).toBe(2);

    // The filter is a list of choices, of which letters choose.
    const state = page.getByRole("combobox", { name: "State" });
    while (!(await state.evaluate((list) => list === list.ownerDocument.activeElement)))
      await page.keyboard.press("Tab");
    await page.keyboard.press("a");
    const rows = () => page.getByRole("rowheader").count();
    await expect.poll(rows).toBe(2);
    await tabTo(page, "Export CSV");
    await select(page, 1);
    await press(page, "Reopen");
    await page.getByRole("dialog", { name: "Reopen 1 finding" }).waitFor();
    await press(page, "Reopen");
    await page.getByText("Reopened 1 finding.").waitFor();
    await isAtHeading(page);
    await expect.poll(rows).toBe(1);

    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await press(page, "Reopen");
    await page.getByRole("dialog", { name: "Reopen 1 finding" }).waitFor();
    await press(page, "Reopen");
    await expect.poll(acknowledged).toBe(0);
    await isAtHeading(page);
  });

  test("puts addresses into a team, disables, enables and removes them", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["ada", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
    const { page } = await signInTo(organization);
    await page.getByRole("rowheader", { name: "grace@demo.example" }).waitFor();
    await page.evaluate(
      `fetch("/api/dashboard/teams", { method: "POST", body: '{"name":"Finance"}', headers: { "Content-Type": "application/json" } })`,
    );
    const dialog = page.getByRole("dialog");
    await select(page, 2);
    await press(page, "Team");
    await dialog.getByRole("option", { name: "Finance" }).waitFor({ state: "attached" });
    await page.keyboard.press("f");
    await press(page, "Save");
    await page.getByText("Changed the team of 2 addresses.").waitFor();
    await expect.poll(() => page.getByRole("cell", { name: "Finance" }).count()).toBe(2);
    await isAtHeading(page);

    for (const [button, said] of [
      ["Disable", "Disabled 2 addresses."],
      ["Enable", "Enabled 2 addresses."],
    ] as const) {
      await select(page, 2);
      await press(page, button, null);
      await page.getByText(said).waitFor();
      await isAtHeading(page);
    }

    await select(page, 2);
    await press(page, "Remove", null);
    await dialog.waitFor();
    await press(page, "Remove");
    await page.getByText("No address is watched yet.").waitFor();
    await isAtHeading(page);
    expect((await api.get("/emails")).body.total).toBe(0);
  });

  test("disables those who are missing from a file, and closes the import", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    for (const name of ["ada", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
    const { page } = await signInTo(organization);
    await press(page, "Import");
    await page.getByRole("dialog", { name: "Import addresses" }).waitFor();
    const buffer = Buffer.from("email\nada@demo.example\n");
    await page.locator(":focus").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    await page.getByRole("button", { name: "Disable those who are missing from this file" }).waitFor();
    await press(page, "Disable those who are missing from this file");
    const leavers = page.getByRole("dialog", { name: "Disable those who are missing from this file" });
    await leavers.getByRole("listitem").getByText("grace@demo.example").waitFor();
    await press(page, "Disable 1 address");
    await leavers.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Disable those who are missing from this file");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Import");
    const { emails } = (await api.get("/emails")).body as { emails: { email: string; isActive: boolean }[] };
    expect(emails.filter(({ isActive }) => !isActive).map(({ email }) => email)).toEqual([
      "grace@demo.example",
    ]);
  });
});
