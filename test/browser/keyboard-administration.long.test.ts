import type { Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createChannel } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { type Received, waitForRequests } from "../service/receiver.ts";
import { focused, follow, press, tabTo } from "./keyboard.ts";
import { isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** Goes to a tab of the settings, the number of steps to the right of the first. */
const followTab = async (page: Page, name: string, steps: number): Promise<void> => {
  await follow(page, "Settings");
  await tabTo(page, "API keys");
  for (let step = 0; step < steps; step += 1) await page.keyboard.press("ArrowRight");
  await page.getByRole("tab", { name, selected: true }).waitFor();
  await isLoaded(page);
};

describe("the keyboard alone", () => {
  test("adds a domain and a channel, starts a scan, creates and revokes an API key", async () => {
    const { api, domainId, ...organization } = await createOrganization();
    await addEmail(api, domainId);
    const { page } = await signInTo(organization);
    const dialog = page.getByRole("dialog");
    await follow(page, "Domains");
    await press(page, "Add domain");
    await page.keyboard.type("keyboard.example");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "keyboard.example" }).waitFor();

    await follow(page, "Alerts");
    await press(page, "Add channel");
    await dialog.waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("security@demo.example");
    await press(page, "Add channel");
    await page.getByText("security@demo.example").waitFor();

    await follow(page, "Scans");
    await press(page, "Start scan");
    await page.getByText("Completed", { exact: true }).nth(1).waitFor();

    await follow(page, "Settings");
    await tabTo(page, "API keys");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tab", { name: "Members", selected: true }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("tab", { name: "API keys", selected: true }).waitFor();
    await page.getByRole("button", { name: "Create API key" }).waitFor();
    await press(page, "Create API key");
    await page.keyboard.type("Of the keyboard");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Your new API key" }).waitFor();
    await press(page, "Close");
    await page.getByRole("rowheader", { name: "Of the keyboard" }).waitFor();
    await press(page, "Revoke");
    await page.getByRole("dialog", { name: "Revoke Of the keyboard?" }).waitFor();
    await press(page, "Revoke");
    await page.getByRole("row").filter({ hasText: "Of the keyboard" }).getByText("Revoked").waitFor();
  });

  test("delivers an alert again", async () => {
    const { api, ...organization } = await createOrganization();
    const inbox = `${inject("receiverUrl")}/keyboard-${organization.id}`;
    await createChannel(api, { channel: "webhook", config: { url: inbox } });
    const { page } = await signInTo(organization);
    await follow(page, "Alerts");
    await press(page, "Send test");
    await page.getByText("A test is on its way.").waitFor();
    await press(page, "Deliveries");
    await page.getByText("Delivered", { exact: true }).last().waitFor();
    const [first] = await waitForRequests(inbox, 1);
    await press(page, "Deliver again");
    const [, second] = await waitForRequests(inbox, 2);
    const idOf = (each: Received | undefined) => JSON.parse(String(each?.body)).id;
    expect(idOf(second)).toBe(idOf(first));
    await page.getByRole("cell", { name: "2", exact: true }).waitFor();
    expect(await focused(page)).toBe("Deliver again");
  });

  test("invites a member and removes the member again", async () => {
    const { page } = await signInTo(await createOrganization());
    const email = "keyboard-invited@demo.example";
    await followTab(page, "Members", 1);
    await press(page, "Invite");
    await page.getByRole("dialog", { name: "Invite a member" }).waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("Grace");
    await page.keyboard.press("Tab");
    await page.keyboard.press("a");
    await press(page, "Invite");
    const row = page.getByRole("row").filter({ hasText: email });
    await row.getByText("Admin", { exact: true }).waitFor();
    await row.getByText("Grace").waitFor();
    await press(page, "Remove", email);
    await page.getByRole("dialog", { name: `Remove ${email}?` }).waitFor();
    await press(page, "Remove");
    await row.waitFor({ state: "detached" });
    await page.locator("h1:focus").waitFor();
  });

  test("adds a team, renames it, and deletes it", async () => {
    const { page } = await signInTo(await createOrganization());
    const dialog = page.getByRole("dialog");
    await followTab(page, "Teams", 2);
    await press(page, "Add team");
    await dialog.waitFor();
    await page.keyboard.type("Finance");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "Finance" }).waitFor();
    await press(page, "Rename", "Finance");
    await dialog.waitFor();
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("Accounting");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "Accounting" }).waitFor();
    await dialog.waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Rename");
    await press(page, "Delete", "Accounting");
    await page.getByRole("dialog", { name: "Delete Accounting?" }).waitFor();
    await press(page, "Delete");
    await page.getByText("There is no team yet.").waitFor();
    await page.locator("h1:focus").waitFor();
  });
});
