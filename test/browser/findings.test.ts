import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { beforeAll, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createScanned, type Scanned } from "../service/scanned.ts";
import { focused, follow, press } from "./keyboard.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

/** The tests share it. The last one acknowledges. */
let known: Scanned;
beforeAll(async () => {
  known = await createScanned();
});

test("the export holds all pages; no cell of it is a formula in a spreadsheet", async () => {
  const { api, domainId, ...organization } = await createOrganization();
  const names = ["=HYPERLINK(1)", "+1", "@SUM(A1)", 'a "quoted", name'];
  for (const [index, alias] of ["ada", "grace", "alan", "claude"].entries()) {
    const email = `${alias}@demo.example`;
    await api.post("/emails", { email, domainId, ownerName: names[index] });
  }
  await scan(api);
  const { page } = await signInTo(organization);
  await follow(page, "Overview");
  await page.getByText("9 findings in 6 breaches from before the first check").waitFor();
  await follow(page, "Findings");
  await isLoaded(page);
  const saved = page.waitForEvent("download");
  await press(page, "Export CSV");
  const download = await saved;
  expect(download.suggestedFilename()).toMatch(/^findings-\d{4}-\d\d-\d\d\.csv$/);
  await page.getByText("Exported 9 findings.").waitFor();
  expect((await api.list("/activity?category=findings"))[0]).toMatchObject({
    action: "findings.exported",
    summary: "Exported 9 findings (open) as CSV",
    actor: { type: "user" },
  });
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await focused(page)).toBe("Export CSV");
  const rows: Record<string, string>[] = parse(await readFile(await download.path()), {
    bom: true,
    columns: true,
  });
  expect(rows).toHaveLength(9);
  const breaches = await api.list("/breaches?include=details");
  expect(new Map(rows.map(({ id, sensitive }) => [Number(id), sensitive]))).toEqual(
    new Map(breaches.map(({ id, breach }) => [id, breach.isSensitive ? "yes" : "no"])),
  );
  const owners = new Map(rows.map(({ email, owner }) => [email, owner]));
  expect([...owners.values()].sort()).toEqual(["'+1", "'=HYPERLINK(1)", "'@SUM(A1)", 'a "quoted", name']);
  for (const cell of rows.flatMap(Object.values)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
});

// acknowledging.test.ts acknowledges by a key, breaches.test.ts undoes it by one.
test("keys move, select and are shown; Shift selects a range", async () => {
  const { page } = await signInTo(known, { place: "/findings" });
  await page.keyboard.press("?");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.getByText("Next row").waitFor();
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
  const boxes = page.getByRole("rowgroup").last().getByRole("checkbox");
  for (const key of ["j", "j", "x", "k", "x"]) await page.keyboard.press(key);
  await page.getByText("2 selected").waitFor();
  await page.getByRole("button", { name: "Select none" }).click();
  await boxes.first().click();
  await boxes.last().click({ modifiers: ["Shift"] });
  await page.getByText("3 selected").waitFor();
  await page.getByRole("button", { name: "Select none" }).click();

  await page.keyboard.press("?");
  await sheet.getByLabel("Use these keys").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await page.getByText("None selected").waitFor();
});

test("the Scan filter names the scan of the URL before it is opened", async () => {
  const { page } = await signInTo(known);
  const [{ id, createdAt }] = await known.api.list("/scans");
  const filter = page.getByRole("combobox", { name: "Scan" });
  const shown = () => filter.locator(`option[value="${id}"]`).textContent();
  for (const other of ["", "&severity=critical"]) {
    await page.goto(urlOf(`/findings?scanId=${id}${other}`));
    await isLoaded(page);
    expect(await filter.inputValue()).toBe(String(id));
    expect(await shown()).toMatch(/^\d\d? \w{3} \d{4}, \d\d:\d\d:\d\d$/);
    expect(Date.parse(String(await shown()))).toBe(Math.floor(Date.parse(createdAt) / 1000) * 1000);
  }
});

test("a description in HTML is text, and the details name who acknowledged why", async () => {
  const { page, user } = await signInTo(known);
  await go(page, "Findings");
  const row = page.getByRole("row").filter({ hasText: "Example Shop" });
  const open = () => row.getByRole("button", { name: "ada@demo.example" }).click();
  const details = page.getByRole("dialog", { name: "ada@demo.example in Example Shop (invented)" });
  // Back closes the details, and does not open again those that were closed.
  await open();
  await details.waitFor();
  await page.goBack();
  await details.waitFor({ state: "detached" });
  await open();
  await details.waitFor();
  await page.keyboard.press("Escape");
  await details.waitFor({ state: "detached" });
  await expect.poll(() => page.evaluate("navigation.canGoForward")).toBe(true);
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "E-mails" }).waitFor();
  await page.goForward();
  await open();
  await details.getByText("the online shop Example Shop left a backup of its customer").waitFor();
  expect(await details.locator("a[href='https://shop.example']").count()).toBe(0);
  expect(await details.innerText()).not.toMatch(/<\/?a\b|href/);
  await details.getByRole("button", { name: "With a reason" }).click();
  const dialog = page.getByRole("dialog", { name: "Acknowledge 1 finding" });
  await dialog.getByLabel("Reason").fill("<script>alert(1)</script> is text");
  await dialog.getByRole("button", { name: "Acknowledge" }).click();
  await dialog.waitFor({ state: "detached" });
  await row.waitFor({ state: "detached" });
  await page.getByLabel("State").selectOption("Acknowledged");
  await open();
  await details.getByText("<script>alert(1)</script> is text").waitFor();
  await details.getByText(user.email).waitFor();
  await details.getByRole("link", { name: "Link to this finding" }).click();
  await page
    .getByRole("heading", { level: 1, name: "ada@demo.example in Example Shop (invented)" })
    .waitFor();
  await page.getByText("<script>alert(1)</script> is text").waitFor();
  await page.getByRole("link", { name: "This address" }).click();
  await page.getByRole("heading", { level: 1, name: "ada@demo.example" }).waitFor();
});
