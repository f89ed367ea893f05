import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { connected, scimClient } from "../people/connected.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { focused, press } from "./keyboard.ts";
import { isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const place = "/settings/directory";
const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const own = "urn:breach-monitor:scim:2.0:User";

const codeIn = async (page: Page, index: number): Promise<string> =>
  (await page.getByRole("dialog").locator(".secret code").nth(index).textContent()) ?? "";

test("an admin connects a directory by keyboard, and sees when it first calls", async () => {
  const organization = await createOrganization();
  const { page } = await signInTo(organization, { place });
  await page.context().grantPermissions(["clipboard-write"]);
  await page.getByText("No directory is connected.").waitFor();
  await press(page, "Connect a directory");
  const choice = page.getByRole("dialog", { name: "Connect a directory" });
  expect(await choice.getByLabel("Name").inputValue()).toBe("Entra ID");
  await page.keyboard.type("Okta");
  expect(await choice.getByLabel("Name").inputValue()).toBe("Okta");
  await press(page, "Connect");
  const dialog = page.getByRole("dialog", { name: "Connect Okta" });
  await dialog.getByText("Waiting for its first request.").waitFor();
  await dialog.getByText("browse the app catalog").waitFor();
  const token = await codeIn(page, 1);
  expect(await codeIn(page, 0)).toMatch(/\/api\/scim\/v2$/);
  await page.keyboard.press("Escape");
  await dialog.getByRole("alert").getByText("You have not copied the token.").waitFor();

  const scim = scimClient(token);
  expect((await scim.post("/Users", { userName: `ada@${organization.domain}` })).status).toBe(201);
  await dialog.getByText("It called").waitFor();
  await dialog.getByText("has brought 1 user so far").waitFor();
  await dialog.getByRole("button", { name: "Copy" }).nth(1).click();
  await dialog.getByText("Copied", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await page.content()).not.toContain(token);
  expect(await focused(page)).toBe("Connect a directory");
  await page.getByText("1 active of 1").waitFor();
  await eventually(
    async () => {
      await page.reload();
      await isLoaded(page);
      return page.getByText("1 enabled, 0 disabled").count();
    },
    (shown) => shown === 1,
  );
  await page.getByRole("definition").getByRole("link", { name: "1", exact: true }).click();
  await page.getByText("1 address matches").waitFor();
  expect(page.url()).toContain("source=directory");
});

test("what a directory brought and cannot be watched is said and named", async () => {
  const of = await connected();
  for (const userName of [`ada@one.${of.domain}`, "robot"]) await of.scim.post("/Users", { userName });
  const { page } = await signInTo(of, { place });
  const named = page.getByRole("button", { name: "1 address of other domains" });
  await eventually(
    async () => {
      await page.reload();
      await isLoaded(page);
      return named.count();
    },
    (shown) => shown === 1,
  );
  await named.click();
  const dialog = page.getByRole("dialog", { name: "Not watched of Entra" });
  await dialog
    .getByRole("listitem")
    .filter({ hasText: `one.${of.domain}: 1 address` })
    .waitFor();
  await dialog.getByRole("listitem").filter({ hasText: "robot" }).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "1 active user", exact: true }).waitFor();
});

test("a token is replaced, a directory edited, silent for days, and disconnected", async () => {
  const of = await connected();
  expect((await of.scim.get("/Users")).status).toBe(200);
  const key = keys.connectedDirectory(of.id, 1);
  await table.update(key, { set: { lastUsedAt: new Date(Date.now() - 3 * 86_400_000).toISOString() } });
  const { page } = await signInTo(of, { place });
  await page.getByText("Silent for 3 days").waitFor();

  await press(page, "Edit", "Entra");
  const edit = page.getByRole("dialog", { name: "Edit Entra" });
  await edit.getByLabel("Name").fill("Company");
  await edit.getByLabel("Teams from").selectOption("department");
  await edit.getByRole("button", { name: "Save" }).click();
  await edit.waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Company" }).waitFor();
  await page.getByText("Their department").waitFor();

  await press(page, "Replace token", "Company");
  await page.getByRole("dialog").getByText("The old token ends at once.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Replace token" }).click();
  await page.getByRole("dialog", { name: "The new token of Company" }).waitFor();
  const token = await codeIn(page, 0);
  expect((await of.scim.get("/Users")).status).toBe(401);
  expect((await scimClient(token).get("/Users")).status).toBe(200);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Close without copying" }).click();

  await press(page, "Disconnect", "Company");
  await page.getByRole("dialog").getByText("E-mails and findings stay as they are").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("The directory Company was disconnected.").waitFor();
  await page.getByText("No directory is connected.").waitFor();
  expect((await scimClient(token).get("/Users")).status).toBe(401);
});

test("a sixth directory is refused in words", async () => {
  const of = await connected();
  for (const name of ["2", "3", "4", "5"])
    expect((await of.dashboard.post("/directories", { name })).status).toBe(201);
  const { page, watch } = await signInTo(of, { place });
  watch.expect("409 /api/dashboard/directories");
  await page.getByRole("button", { name: "Connect a directory" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByRole("alert").getByText("The organization already has 5 directories").waitFor();
});

describe("people of a directory", () => {
  test("list, page and finding say who left and is privileged", async () => {
    const of = await connected();
    const email = `ada@${of.domain}`;
    const { body } = await of.scim.post("/Users", {
      userName: email,
      displayName: "Ada Lovelace",
      title: "Analyst",
      [enterprise]: { department: "Research" },
      [own]: { privileged: true, passwordChangedAt: "2026-11-03T12:00:00Z" },
    });
    await of.v1.post("/emails", { email: `grace@${of.domain}`, domainId: of.domainId });
    const listed = (query: string) => of.dashboard.list(`/emails?source=directory${query}`);
    await eventually(
      () => listed(""),
      (emails) => emails.length === 1,
    );
    await scan(of.api);
    const { page } = await signInTo(of, { place: "/emails?source=directory" });
    await page.getByText("1 address matches").waitFor();
    const row = page.getByRole("row").filter({ hasText: "ada@" });
    await row.getByText("Privileged").waitFor();

    const leave = { Operations: [{ op: "replace", value: { active: false } }] };
    expect((await of.scim.patch(`/Users/${body.id}`, leave)).status).toBe(200);
    await eventually(
      () => listed("&left=true"),
      (emails) => emails.length === 1,
    );
    await page.goto(urlOf("/emails"));
    await isLoaded(page);
    await page.getByLabel("People").selectOption("Left");
    await page.getByText("1 address matches").waitFor();
    expect(new URL(page.url()).search).toBe("?left=true");
    await row.getByText("Left", { exact: true }).waitFor();
    await page.getByLabel("Source").selectOption("By hand");
    await page.getByText("No address matches these filters.").waitFor();
    await page.getByLabel("Source").selectOption("A directory");
    await row.getByRole("link", { name: email }).click();
    await page.getByText("the directory says that Ada Lovelace has left.").waitFor();
    for (const fact of ["Analyst", "Research", /3 Nov 2026/])
      await page.getByRole("definition").filter({ hasText: fact }).waitFor();
    await page.getByRole("definition").filter({ hasText: "Disabled" }).getByText("Left").waitFor();
    await page.getByRole("rowheader").getByRole("link").first().click();
    await page.getByRole("definition").filter({ hasText: "Ada Lovelace" }).getByText("Left").waitFor();
    await page.goto(urlOf("/findings"));
    await page.getByRole("row").filter({ hasText: "ada@" }).first().getByText("Left").waitFor();
  });

  test("an import disables nobody where a directory says who left", async () => {
    const { page } = await signInTo(await connected(), { place: "/emails" });
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const dialog = page.getByRole("dialog");
    const buffer = Buffer.from("ada@demo.example\n");
    await dialog.getByLabel("File").setInputFiles({ name: "all.txt", mimeType: "text/plain", buffer });
    await dialog.getByText("Who has left is said by your directory").waitFor();
    expect(await dialog.getByRole("button", { name: "Disable those" }).count()).toBe(0);
    await dialog.getByRole("link", { name: "Settings, Directory" }).click();
    await page.getByRole("heading", { name: "Entra" }).waitFor();
  });
});
