import { expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createScanned } from "../service/scanned.ts";
import { focused, press } from "./keyboard.ts";
import { signInTo, useBrowser } from "./visit.ts";

useBrowser();

test("the keyboard adds an address, disables and enables it, and removes it", async () => {
  const { api, ...organization } = await createOrganization();
  const { page, watch } = await signInTo(organization);
  await page.getByText("No address is watched yet.").waitFor();
  const dialog = page.getByRole("dialog");
  const isClosed = () => dialog.waitFor({ state: "detached" });
  const add = async () => {
    await press(page, "Add e-mail");
    await dialog.waitFor();
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").filter({ hasText: "E-mail address is missing." }).waitFor();
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
    expect(await page.locator(":focus").getAttribute("aria-invalid")).toBe("true");
    await page.keyboard.type("ada@demo.example");
    // The next one is the domain, which follows from the address.
    for (const key of ["Tab", "Tab"]) await page.keyboard.press(key);
    await page.keyboard.type("Ada");
    await page.keyboard.press("Enter");
  };
  await add();
  await isClosed();
  const row = page.getByRole("row").filter({ hasText: "ada@demo.example" });
  await row.waitFor();
  await page.getByText("1 address", { exact: true }).waitFor();
  // In how many breaches it is, nobody knows yet.
  expect(await row.getByText("0", { exact: true }).count()).toBe(0);
  expect((await api.get("/emails")).body).toMatchObject({
    emails: [{ email: "ada@demo.example", ownerName: "Ada", isActive: true }],
  });

  watch.expect("409 /api/v1/emails");
  await add();
  await dialog.getByRole("alert").filter({ hasText: "already watched" }).waitFor();
  await page.keyboard.press("Escape");
  await isClosed();
  expect(await focused(page)).toBe("Add e-mail");

  for (const [button, state] of [
    ["Disable", "Disabled"],
    ["Enable", "Enabled"],
  ] as const) {
    await press(page, button);
    await row.getByText(state, { exact: true }).waitFor();
    expect((await api.get("/emails")).body).toMatchObject({ emails: [{ isActive: state === "Enabled" }] });
  }

  const asked = page.getByRole("dialog", { name: "Remove ada@demo.example?" });
  await press(page, "Remove");
  await asked.waitFor();
  await press(page, "Cancel");
  await isClosed();
  expect((await api.get("/emails")).body.total).toBe(1);
  expect(await focused(page)).toBe("Remove");
  await page.keyboard.press("Enter");
  await asked.waitFor();
  await press(page, "Remove");
  await page.getByText("No address is watched yet.").waitFor();
  expect((await api.get("/emails")).body.total).toBe(0);
});

test("names of any length, direction and form are text, and widen no page", async () => {
  const script = "<script>document.title = 'run'</script>";
  const names = ["N".repeat(200), "مها الشريف <b>", script];
  const name = `מה ${script}`.padEnd(100, "N");
  const { api, domainId, ...organization } = await createOrganization({ name });
  for (const [index, ownerName] of names.entries()) {
    const email = `${index}${"a".repeat(63)}@demo.example`;
    expect(await api.post("/emails", { email, domainId, ownerName })).toMatchObject({ status: 201 });
  }
  const { page } = await signInTo(organization);
  for (const each of names)
    expect(await page.getByRole("row").getByTitle(each, { exact: true }).textContent()).toBe(each);
  expect(await page.getByRole("banner").locator(".organization").textContent()).toBe(name);
  expect(await page.title()).toBe("E-mails · Breach Monitor");
  const isNotWidened = async () => {
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    }
  };
  await isNotWidened();
  await page.getByRole("rowheader").last().getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: /^0a+@demo/ }).waitFor();
  await isNotWidened();
});

test("a member's keys acknowledge on the page of an address, and take it back", async () => {
  const { api, emailIds, ...organization } = await createScanned();
  const place = `/emails/${emailIds[0]}`;
  const { page } = await signInTo(organization, { place, role: "member" });
  const acknowledged = async () => (await api.get("/breaches?acknowledged=true")).body;
  const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
  const keys = async (...all: string[]) => {
    for (const key of all) await page.keyboard.press(key);
  };
  await expect.poll(() => rows.count()).toBe(3);
  expect(await page.getByRole("button", { name: "Reopen" }).count()).toBe(0);
  await keys("j", "e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  await rows.nth(0).getByText("Handled", { exact: true }).waitFor();
  // Each key goes on to the next row.
  await keys("e");
  await rows.nth(1).getByText("Handled", { exact: true }).waitFor();
  expect((await acknowledged()).total).toBe(2);
  await page.getByText("Acknowledged 1 finding.").waitFor();
  await keys("z");
  await page.getByText("Reopened 1 finding.").waitFor();
  await rows.nth(1).getByText("Open", { exact: true }).waitFor();

  await keys("k", "E");
  const dialog = page.getByRole("dialog", { name: "Acknowledge 1 finding" });
  await dialog.getByLabel("Reason").fill("Password changed");
  await keys("Control+Enter");
  await dialog.waitFor({ state: "detached" });
  await expect.poll(async () => (await acknowledged()).total).toBe(2);
  await rows.nth(1).getByRole("checkbox").check();
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  await rows.nth(1).getByRole("checkbox").uncheck();
  await rows.nth(2).getByRole("checkbox").check();
  expect(await page.getByRole("button", { name: "Reopen" }).count()).toBe(0);
  await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await expect.poll(async () => (await acknowledged()).total).toBe(3);
});

test("the page of an address has its findings, disables it, and removes it", async () => {
  const { page } = await signInTo(await createScanned());
  await page.getByRole("link", { name: "ada@demo.example" }).click();
  await page.getByRole("heading", { level: 1, name: "ada@demo.example" }).waitFor();
  await page.getByRole("link", { name: "Example Shop (invented)" }).waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText("ada@demo.example is disabled.").waitFor();
  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { level: 1, name: "E-mails" }).waitFor();
  await page.getByText("ada@demo.example was removed.").waitFor();
});
