import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { go, isLoaded, signInTo, useBrowser } from "./visit.ts";

useBrowser();

const openTab = async (page: Page, name: string): Promise<void> => {
  await go(page, "Settings");
  await page.getByRole("tab", { name }).click();
  await page.getByRole("tab", { name, selected: true }).waitFor();
  await isLoaded(page);
};

describe("Settings", () => {
  test("an API key is shown once, works, and is refused once it is revoked", async () => {
    const { page } = await signInTo(await createOrganization());
    await openTab(page, "API keys");
    await page.getByRole("button", { name: "Create API key" }).click();
    const dialog = page.getByRole("dialog", { name: "Create API key" });
    await dialog.getByLabel("Label").fill("Browser key");
    await dialog.getByRole("button", { name: "Create API key" }).click();
    const created = page.getByRole("dialog", { name: "Your new API key" });
    const key = (await created.locator("code").textContent()) ?? "";
    const client = createClient({ authorization: `Bearer ${key}` });
    expect((await client.get("/emails")).status).toBe(200);
    await created.getByRole("button", { name: "Close" }).click();
    const row = page.getByRole("row").filter({ hasText: "Browser key" });
    await row.waitFor();
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(key);

    await row.getByRole("button", { name: "Revoke" }).click();
    const asked = page.getByRole("dialog", { name: "Revoke Browser key?" });
    await asked.getByRole("button", { name: "Revoke" }).click();
    await row.getByText("Revoked").waitFor();
    expect((await client.get("/emails")).status).toBe(401);
  });

  test("a team is added, renamed and deleted", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    await openTab(page, "Teams");
    const add = async () => {
      await page.getByRole("button", { name: "Add team" }).click();
      const dialog = page.getByRole("dialog", { name: "Add team" });
      await dialog.getByLabel("Name").fill("Finance");
      await dialog.getByRole("button", { name: "Add team" }).click();
      return dialog;
    };
    await (await add()).waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: "Finance" }).waitFor();
    watch.expect("409 /api/dashboard/teams");
    const second = await add();
    await second.getByRole("alert").waitFor();
    await second.getByRole("button", { name: "Cancel" }).click();

    await page.getByRole("button", { name: "Rename" }).click();
    const rename = page.getByRole("dialog", { name: "Rename Finance" });
    await rename.getByLabel("Name").fill("Accounting");
    await rename.getByRole("button", { name: "Save" }).click();
    await page.getByRole("rowheader", { name: "Accounting" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    const asked = page.getByRole("dialog", { name: "Delete Accounting?" });
    await asked.getByRole("button", { name: "Delete" }).click();
    await page.getByText("There is no team yet.").waitFor();
  });

  test("a member is invited, made an admin, and removed", async () => {
    const { page } = await signInTo(await createOrganization());
    await openTab(page, "Members");
    await page.getByRole("button", { name: "Invite" }).click();
    const invite = page.getByRole("dialog", { name: "Invite a member" });
    await invite.getByLabel("E-mail address").fill("invited@demo.example");
    await invite.getByRole("button", { name: "Invite" }).click();
    const row = page.getByRole("row").filter({ hasText: "invited@demo.example" });
    await row.getByText("Member", { exact: true }).waitFor();
    await row.getByText("Invited", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Resend" }).click();
    await page.getByText("An invitation for invited@demo.example is on its way.").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    const edit = page.getByRole("dialog", { name: "Edit invited@demo.example" });
    await edit.getByLabel("Role").selectOption("admin");
    await edit.getByRole("button", { name: "Save" }).click();
    await row.getByText("Admin", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Remove" }).click();
    const asked = page.getByRole("dialog", { name: "Remove invited@demo.example?" });
    await asked.getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
  });

  test("the organization gets another name, which the frame shows", async () => {
    const { page } = await signInTo(await createOrganization({ name: "Before" }));
    await openTab(page, "Organization");
    await page.getByLabel("Name").fill("Afterwards Ltd");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("banner").getByText("Afterwards Ltd").waitFor();
  });
});

describe("Domains", () => {
  test("a domain is added, shows the record that proves it, and is removed", async () => {
    const { page } = await signInTo(await createOrganization());
    await go(page, "Domains");
    await page.getByRole("button", { name: "Add domain" }).click();
    const dialog = page.getByRole("dialog", { name: "Add domain" });
    await dialog.getByLabel("Name").fill("browser.example");
    await dialog.getByRole("button", { name: "Add domain" }).click();
    const row = page.getByRole("row").filter({ hasText: "_breach-monitor.browser.example" });
    await row.getByText("Not verified").waitFor();
    await row.getByText("breach-monitor=").waitFor();
    await row.getByRole("button", { name: "Remove" }).click();
    const asked = page.getByRole("dialog", { name: "Remove browser.example?" });
    await asked.getByRole("button", { name: "Remove" }).click();
    await row.waitFor({ state: "detached" });
  });
});
