import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { go, signInTo, urlOf, useBrowser } from "./visit.ts";
import { withFindings } from "./with-findings.ts";

useBrowser();

describe("acknowledging findings", () => {
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

  test("open ones come worst first; Undo brings back exactly what was acknowledged", async () => {
    const { api, organization, total } = await withFindings();
    const { page } = await signInTo(organization);
    await go(page, "Findings");
    const rows = page.getByRole("row").filter({ hasText: "ada@demo.example" });
    const [newest] = (await api.get("/breaches")).body.breaches as { id: number }[];
    expect((await api.post("/breaches/acknowledge", { id: newest?.id, reason: "before" })).status).toBe(200);
    await page.reload();
    await page.getByText(`${total - 1} open`, { exact: true }).waitFor();

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
    await page.getByText(`${high} match`).waitFor();
    await page.getByRole("button", { name: "Select all matching" }).click();
    await page.getByRole("button", { name: "Reopen" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/acknowledged high findings?, on every page/).waitFor();
    await dialog.getByRole("button", { name: "Reopen" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await api.get("/breaches")).body.unacknowledged).toBe(high);
  });
});
