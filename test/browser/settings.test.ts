import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { createSession, signedIn } from "../dashboard/signed-in.ts";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { focused, follow, press, tabTo } from "./keyboard.ts";
import { isLoaded, signInTo, useBrowser, type Visit } from "./visit.ts";

useBrowser();

/** Goes to a tab of the settings, the number of steps to the right of the first. */
const followTab = async (page: Page, name: string, steps: number): Promise<void> => {
  await follow(page, "Settings");
  await tabTo(page, "API keys");
  for (let step = 0; step < steps; step += 1) await page.keyboard.press("ArrowRight");
  await page.getByRole("tab", { name, selected: true }).waitFor();
  await isLoaded(page);
};

test("an edit leaves alone what somebody else has changed meanwhile", async () => {
  const organization = await createOrganization();
  const { dashboard, userId } = await signedIn(organization.id, { role: "admin" });
  const { page, user } = await signInTo(organization, { place: "/settings/members" });
  const edit = page.getByRole("row").filter({ hasText: `user-${organization.id}` });
  await edit.getByRole("button", { name: "Edit" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("Grace");
  expect((await dashboard.patch(`/members/${userId}`, { role: "member" })).status).toBe(200);
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  const { dashboard: admin } = await createSession(organization.id, user);
  const members = await admin.list("/members");
  expect(members.find(({ id }) => id === userId)).toMatchObject({ name: "Grace", role: "member" });
});

test("who removes or demotes an admin sees the admin's API keys, and may revoke them", async () => {
  const organization = await createOrganization();
  const { page } = await signInTo(organization, { place: "/settings/members" });
  const admins = [await signedIn(organization.id), await signedIn(organization.id)];
  const keys: string[] = [];
  for (const [index, { dashboard }] of admins.entries())
    for (const label of ["First", "Second"].slice(index))
      keys.push(String((await dashboard.post("/api-keys", { label })).body.key));
  const statuses = () =>
    Promise.all(
      keys.map(async (key) => (await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status),
    );
  const [removed = "", demoted = ""] = admins.map(({ email }) => email);
  await page.reload();
  const press = (email: string, name: string) =>
    page.getByRole("row").filter({ hasText: email }).getByRole("button", { name }).click();

  await press(demoted, "Edit");
  const edit = page.getByRole("dialog", { name: `Edit ${demoted}` });
  await edit.getByLabel("Role").selectOption("member");
  await edit.getByRole("listitem").filter({ hasText: "Second, last used never" }).waitFor();
  expect(await edit.getByRole("checkbox", { name: "Revoke this key" }).isChecked()).toBe(false);
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "detached" });
  expect(await statuses()).toEqual([200, 200, 200]);

  await press(removed, "Remove");
  const remove = page.getByRole("dialog", { name: `Remove ${removed}?` });
  await remove.getByRole("checkbox", { name: "Revoke these 2 keys", checked: true }).waitFor();
  expect(await remove.getByRole("listitem").count()).toBe(2);
  await remove.getByRole("button", { name: "Remove" }).click();
  await remove.waitFor({ state: "detached" });
  expect(await statuses()).toEqual([401, 401, 200]);
});

describe("the keyboard", () => {
  let page: Page;
  let watch: Visit["watch"];
  beforeAll(async () => {
    if (noBrowser === undefined) ({ page, watch } = await signInTo(await createOrganization()));
  });

  test("creates an API key that is shown once, works, and can be revoked", async () => {
    await followTab(page, "API keys", 0);
    await press(page, "Create API key");
    await page.getByRole("dialog", { name: "Create API key" }).waitFor();
    await page.keyboard.type("Browser key");
    await page.keyboard.press("Enter");
    const created = page.getByRole("dialog", { name: "Your new API key" });
    const key = (await created.locator("code").textContent()) ?? "";
    const client = createClient({ authorization: `Bearer ${key}` });
    expect((await client.get("/emails")).status).toBe(200);
    // Neither Esc, however often, nor Close loses a key that was not copied.
    for (const _ of [1, 2, 3]) await page.keyboard.press("Escape");
    await press(page, "Close");
    await created.getByRole("alert").getByText("You have not copied the key.").waitFor();
    expect(await created.locator("code").textContent()).toBe(key);
    await press(page, "Close without copying");
    await created.waitFor({ state: "detached" });
    const row = page.getByRole("row").filter({ hasText: "Browser key" });
    await row.getByRole("cell", { name: "Full", exact: true }).waitFor();
    expect(await page.content()).not.toContain(key);
    await page.reload();
    await row.waitFor();
    expect(await page.content()).not.toContain(key);

    await press(page, "Revoke", "Browser key");
    await page.getByRole("dialog", { name: "Revoke Browser key?" }).waitFor();
    await press(page, "Revoke");
    await row.getByText("Revoked").waitFor();
    expect((await client.get("/emails")).status).toBe(401);
  });

  test("creates an API key that only reads; once copied it closes unasked", async () => {
    await page.context().grantPermissions(["clipboard-write"]);
    await followTab(page, "API keys", 0);
    await press(page, "Create API key");
    const dialog = page.getByRole("dialog", { name: "Create API key" });
    await dialog.waitFor();
    await page.keyboard.type("SIEM");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Read");
    await dialog.getByLabel("Last day").fill("2020-01-31");
    await page.keyboard.press("Enter");
    watch.expect("400 /api/dashboard/api-keys");
    await dialog.getByRole("alert").getByText("must be in the future").waitFor();
    const lastDay = new Date(Date.now() + 40 * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    await dialog.getByLabel("Last day").fill(lastDay);
    await page.keyboard.press("Enter");
    const created = page.getByRole("dialog", { name: "Your new API key" });
    const key = (await created.locator("code").textContent()) ?? "";
    await press(page, "Copy");
    await created.getByText("Copied", { exact: true }).waitFor();
    await page.keyboard.press("Escape");
    await created.waitFor({ state: "detached" });
    const row = page.getByRole("row").filter({ hasText: "SIEM" });
    await row.getByText("Read only").waitFor();
    await row.getByText("ends in 1 month").waitFor();
    const client = createClient({ authorization: `Bearer ${key}` });
    expect((await client.get("/emails")).status).toBe(200);
    expect((await client.post("/scans")).status).toBe(403);
  });

  test("adds a team, renames it, and deletes it", async () => {
    const dialog = page.getByRole("dialog");
    await followTab(page, "Teams", 2);
    const add = async () => {
      await press(page, "Add team");
      await dialog.waitFor();
      await page.keyboard.type("Finance");
      await page.keyboard.press("Enter");
    };
    await add();
    await page.getByRole("rowheader", { name: "Finance" }).waitFor();
    watch.expect("409 /api/dashboard/teams");
    await add();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });

    await press(page, "Rename", "Finance");
    await page.getByRole("dialog", { name: "Rename Finance" }).waitFor();
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

  test("invites a member, makes the member an admin, and removes them", async () => {
    const email = "invited@demo.example";
    await followTab(page, "Members", 1);
    await press(page, "Invite");
    await page.getByRole("dialog", { name: "Invite a member" }).waitFor();
    await page.keyboard.type(email);
    await page.keyboard.press("Tab");
    await page.keyboard.type("Grace");
    await page.keyboard.press("Enter");
    const row = page.getByRole("row").filter({ hasText: email });
    await row.getByText("Member", { exact: true }).waitFor();
    await row.getByText("Grace").waitFor();
    await row.getByText("Invited", { exact: true }).waitFor();
    // The first invitation was told in the same words.
    const sentAgain = page.waitForResponse(/\/invitation$/);
    await press(page, "Resend", email);
    await sentAgain;
    await page.getByText(`An invitation for ${email} is on its way.`).waitFor();
    await press(page, "Edit", email);
    await page.getByRole("dialog", { name: `Edit ${email}` }).waitFor();
    for (const key of ["Tab", "a"]) await page.keyboard.press(key);
    await press(page, "Save");
    await row.getByText("Admin", { exact: true }).waitFor();
    await press(page, "Remove", email);
    const remove = page.getByRole("dialog", { name: `Remove ${email}?` });
    // The keys that the member has made are looked up first.
    await remove.getByRole("button", { name: "Remove", disabled: false }).waitFor();
    await press(page, "Remove");
    await row.waitFor({ state: "detached" });
    await page.locator("h1:focus").waitFor();
  });

  test("gives the organization another name, which the frame shows", async () => {
    await followTab(page, "Organization", 5);
    await page.getByLabel("Name").fill("Afterwards Ltd");
    await page.keyboard.press("Enter");
    await page.getByRole("banner").getByText("Afterwards Ltd").waitFor();
  });
});
