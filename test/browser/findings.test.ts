import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { go, signInTo, urlOf, useBrowser } from "./visit.ts";

useBrowser();

const withFindings = async () => {
  const { api, domainId, ...organization } = await createOrganization();
  await addEmail(api, domainId, "ada@demo.example");
  await scan(api);
  const { total } = (await api.get("/breaches")).body;
  expect(total).toBeGreaterThan(1);
  return { api, organization, total: total as number };
};

describe("Findings", () => {
  test("all matching findings are acknowledged, and Overview counts them", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
    const rows = page.getByRole("row").filter({ hasText: "ada@demo.example" });
    await rows.first().waitFor();
    expect(await rows.count()).toBe(total);

    await rows.first().getByRole("checkbox").check();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("Passwords are changed");
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    await expect
      .poll(async () => (await api.get("/breaches")).body.unacknowledged, { timeout: 60_000 })
      .toBe(0);
    const breaches = (await api.get("/breaches")).body.breaches as unknown[];
    expect(breaches[0]).toMatchObject({ acknowledgeReason: "Passwords are changed", resolution: "handled" });

    await go(page, "Overview");
    await page.getByText("Open findings").first().waitFor();
  });

  test("all matching means those of now, also where the browser's clock is a day behind", async () => {
    const { api, organization } = await withFindings();
    const { page } = await signInTo(organization);
    await page.clock.setSystemTime(Date.now() - 86_400_000);
    await go(page, "Findings");
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await api.get("/breaches")).body.unacknowledged).toBe(0);
  });

  test("two tabs acknowledge one finding: the later one counts, and neither fails", async () => {
    const { api, organization } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
    const tab = await page.context().newPage();
    await tab.goto(urlOf("/findings"));
    const acknowledge = async (where: Page, reason: string) => {
      await where.getByRole("button", { name: "Acknowledge", exact: true }).click();
      const dialog = where.getByRole("dialog", { name: "Acknowledge 1 finding" });
      await dialog.getByLabel("Resolution").selectOption("ignored");
      await dialog.getByLabel("Reason").fill(reason);
      await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };
    for (const each of [page, tab]) {
      await each
        .getByRole("checkbox", { name: "Select ada@demo.example in Example Shop (invented)" })
        .check();
    }
    await acknowledge(page, "first");
    await acknowledge(tab, "second");
    await tab.getByLabel("State").selectOption("Any");
    const row = tab.getByRole("row").filter({ hasText: "Example Shop" });
    await row.getByText("Ignored").waitFor();
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject([{ acknowledgeReason: "second", resolution: "ignored" }]);
  });

  test("a description in HTML is text, and the details name who acknowledged why", async () => {
    const { organization } = await withFindings();
    const { page, user } = await signInTo(organization);
    await go(page, "Findings");
    const row = page.getByRole("row").filter({ hasText: "Example Shop" });
    await row.getByRole("button", { name: "ada@demo.example" }).click();
    const details = page.getByRole("dialog", { name: "ada@demo.example in Example Shop (invented)" });
    await details.getByText("the online shop Example Shop left a backup of its customer").waitFor();
    expect(await details.locator("a[href='https://shop.example']").count()).toBe(0);
    expect(await details.innerText()).not.toMatch(/<\/?a\b|href/);
    await details.getByRole("button", { name: "Acknowledge" }).click();
    const dialog = page.getByRole("dialog", { name: "Acknowledge 1 finding" });
    await dialog.getByLabel("Reason").fill("<script>alert(1)</script> is text");
    await dialog.getByRole("button", { name: "Acknowledge" }).click();
    await dialog.waitFor({ state: "detached" });
    await row.waitFor({ state: "detached" });
    await page.getByLabel("State").selectOption("Acknowledged");
    await row.getByRole("button", { name: "ada@demo.example" }).click();
    await details.getByText("<script>alert(1)</script> is text").waitFor();
    await details.getByText(user.email).waitFor();
    await details.getByRole("link", { name: "Link to this finding" }).click();
    await page
      .getByRole("heading", { level: 1, name: "ada@demo.example in Example Shop (invented)" })
      .waitFor();
    await page.getByText("<script>alert(1)</script> is text").waitFor();
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
    await go(page, "Findings");
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export CSV" }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toMatch(/^findings-\d{4}-\d\d-\d\d\.csv$/);
    await page.getByText("Exported 9 findings.").waitFor();
    const rows: Record<string, string>[] = parse(await readFile(await download.path()), {
      bom: true,
      columns: true,
    });
    expect(rows).toHaveLength(9);
    const owners = new Map(rows.map(({ email, owner }) => [email, owner]));
    expect([...owners.values()].sort()).toEqual(["'+1", "'=HYPERLINK(1)", "'@SUM(A1)", 'a "quoted", name']);
    for (const cell of rows.flatMap(Object.values)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  });

  test("open ones come worst first; Undo brings back exactly what was acknowledged", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
    const rows = page.getByRole("row").filter({ hasText: "ada@demo.example" });
    const [newest] = (await api.get("/breaches")).body.breaches as { id: number }[];
    expect((await api.post("/breaches/acknowledge", { id: newest?.id, reason: "before" })).status).toBe(200);
    await page.reload();
    await page.getByText(`1–${total - 1} of ${total - 1}`).waitFor();

    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Acknowledge", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(`${total - 1} open findings, on every page.`).waitFor();
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
    await page.getByText(`All ${total} handled.`).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText(`Reopened ${total - 1} findings.`).waitFor();
    await rows.first().waitFor();
    expect(await rows.count()).toBe(total - 1);
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject([{ id: newest?.id, acknowledgeReason: "before" }]);
  });

  test("what was acknowledged is reopened; the dialog names the filter of severity", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await api.post("/breaches/acknowledgements", { filter: {} });
    await expect.poll(async () => (await api.get("/breaches")).body.unacknowledged).toBe(0);
    await go(page, "Findings");
    await page.getByText(`All ${total} handled.`).waitFor();
    await page.getByRole("link", { name: "Show what was handled" }).click();
    await page.getByLabel("Severity").selectOption("High");
    const { total: high } = (await api.get("/breaches?severity=high")).body;
    await page.getByText(`1–${high} of ${high}`).waitFor();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Reopen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/acknowledged high findings?, on every page/).waitFor();
    await dialog.getByRole("button", { name: "Reopen" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await api.get("/breaches")).body.unacknowledged).toBe(high);
  });

  test("keys move, select, acknowledge and are shown; Shift selects a range", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
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
    await page.getByText(`${total} selected`).waitFor();
    await page.getByRole("button", { name: "Select none" }).click();
    for (const key of ["j", "e"]) await page.keyboard.press(key);
    await page.getByRole("dialog", { name: "Acknowledge 1 finding" }).getByLabel("Resolution").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Acknowledge" }).click();
    await page.getByText("Acknowledged 1 finding.").waitFor();
    expect((await api.get("/breaches")).body.unacknowledged).toBe(total - 1);

    await page.keyboard.press("?");
    await sheet.getByLabel("Use these keys").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByText("None selected").waitFor();
  });

  test("rows are one line of 36 to 40 pixels; head and selection bar stay in sight", async () => {
    const { organization } = await withFindings();
    const { page } = await signInTo(organization);
    await page.setViewportSize({ width: 1280, height: 300 });
    await go(page, "Findings");
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll("tbody tr")].map((row) => row.getBoundingClientRect().height)`,
    );
    for (const height of heights) expect(height).toBeGreaterThanOrEqual(36);
    for (const height of heights) expect(height).toBeLessThanOrEqual(40);
    await page.evaluate("scrollTo(0, 170)");
    const bar = await page.getByRole("group", { name: "Selection" }).boundingBox();
    const head = await page.getByRole("columnheader", { name: "Severity" }).boundingBox();
    expect(bar?.y).toBe(0);
    expect(head?.y).toBeCloseTo(bar?.height ?? 0, -1);
  });
});
