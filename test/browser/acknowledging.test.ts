import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { createScanned } from "../service/scanned.ts";
import { focused, follow, press, tabTo } from "./keyboard.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

/** Findings of ada. */
const total = 3;

const select = async (page: Page, rows: number): Promise<void> => {
  // The keys go on where they were before.
  for (const key of "kkx") await page.keyboard.press(key);
  for (let row = 1; row < rows; row += 1) for (const key of "jx") await page.keyboard.press(key);
  await page.getByText(`${rows} selected`).waitFor();
};

const isLost = (route: Route) => route.fulfill({ body: "" });

const isAtHeading = (page: Page) => page.locator("h1:focus").waitFor();

test("the keyboard acknowledges two, and reopens one in the list and one by itself", async () => {
  const { api, ...organization } = await createScanned(["grace", "donald"]);
  const acknowledged = async () => (await api.get("/breaches?acknowledged=true")).body.total;
  const { page } = await signInTo(organization);
  await follow(page, "Findings");
  await press(page, "donald@demo.example");
  await page.getByRole("dialog").getByText("Breached", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await focused(page)).toBe("donald@demo.example");
  await select(page, 2);
  await page.keyboard.press("E");
  await page.getByRole("dialog", { name: "Acknowledge 2 findings" }).waitFor();
  // Letters choose from the list of resolutions.
  for (const key of ["i", "Tab", "O", "l", "d"]) await page.keyboard.press(key);
  await press(page, "Acknowledge");
  await page.getByText("Acknowledged 2 findings.").waitFor();
  await isAtHeading(page);
  const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
  expect(breaches).toMatchObject(Array(2).fill({ resolution: "ignored", acknowledgeReason: "Old" }));

  // The filter is a list of choices, in which letters choose.
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

test("Undo brings back exactly what was acknowledged", async () => {
  const { api, ...organization } = await createScanned();
  const [newest] = await api.list("/breaches");
  expect((await api.post("/breaches/acknowledge", { id: newest?.id, reason: "before" })).status).toBe(200);
  const { page } = await signInTo(organization, { place: "/findings" });
  const rows = page.getByRole("row").filter({ hasText: "ada@demo.example" });
  await page.getByText(`${total - 1} open`, { exact: true }).waitFor();

  const dialog = page.getByRole("dialog");
  const acknowledge = async (what: string): Promise<void> => {
    await page.getByRole("button", { name: "With a reason" }).click();
    await dialog.getByText(what).waitFor();
    await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  };
  const undo = async (): Promise<void> => {
    // The key does nothing until the dialog has closed.
    const isReopened = page.getByText(`Reopened ${total - 1} findings.`);
    await expect.poll(() => page.keyboard.press("z").then(() => isReopened.count())).toBe(1);
    const { breaches } = (await api.get("/breaches?acknowledged=true")).body;
    expect(breaches).toMatchObject([{ id: newest?.id, acknowledgeReason: "before" }]);
  };
  await page.getByRole("combobox", { name: "State" }).selectOption("Any");
  await expect.poll(() => rows.count()).toBe(total);
  await page.getByRole("checkbox", { name: "Select this page" }).check();
  await acknowledge(`Acknowledge ${total - 1} findings`);
  await page.getByText(`Acknowledged ${total - 1} findings.`).waitFor();
  await undo();

  // One request undoes whatever was acknowledged on all pages.
  const reopenings: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") reopenings.push(request.postData() ?? "");
  });
  await page.getByRole("button", { name: "Select all matching" }).click();
  await acknowledge(`${total - 1} open findings, on every page.`);
  await page.getByText(`Acknowledged ${total - 1} findings.`).waitFor();
  await undo();
  expect(reopenings).toEqual([
    expect.stringContaining("detectedBefore"),
    expect.stringContaining("acknowledgedAt"),
  ]);
});

test("Undo leaves what somebody else has said of a finding since", async () => {
  const { api, ...organization } = await createScanned();
  const { page } = await signInTo(organization, { place: "/findings" });
  const acknowledged = () => api.list("/breaches?acknowledged=true");
  await select(page, 1);
  await page.keyboard.press("e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  const [{ id } = { id: 0 }] = await acknowledged();
  await api.post("/breaches/acknowledge", { id, reason: "by phone" });
  await page.keyboard.press("z");
  await page.getByText("Nothing was reopened").waitFor();
  expect(await acknowledged()).toMatchObject([{ id, acknowledgeReason: "by phone" }]);

  await select(page, 1);
  await page.keyboard.press("e");
  await page.getByText("Acknowledged 1 finding.").waitFor();
  await page.keyboard.press("z");
  await page.getByText("Reopened 1 finding.").waitFor();
  expect(await acknowledged()).toMatchObject([{ id }]);
});

test("a dialog closed early leaves a list that is right; Undo can be tried again", async () => {
  const organization = await createScanned();
  const { page } = await signInTo(organization, { place: "/findings" });
  const isClosed = Promise.withResolvers<void>();
  const jobs = "**/api/v1/breaches/acknowledgements/*";
  await page.route(jobs, async (route) => {
    await isClosed.promise;
    await route.continue();
  });
  // The service goes on, even if its answer is lost.
  await page.route(jobs, isLost, { times: 1 });
  await page.getByRole("button", { name: "Select all matching" }).click();
  await page.getByRole("button", { name: "With a reason" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await dialog.getByText("This continues if you close the dialog or leave the page.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  isClosed.resolve();
  await page.getByText(`Acknowledged ${total} findings.`).waitFor();
  await page.getByText(`All ${total} handled.`).waitFor();

  // Undo goes along to another page, which is right at the end, too.
  const openFindings = page.locator(".figures .big");
  const reopenings = "**/api/v1/breaches/reopenings";
  await page.route(reopenings, isLost, { times: 1 });
  await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Not everything was reopened: The service did not answer").waitFor();
  await page.route(reopenings, async (route) => {
    await openFindings.filter({ hasText: /^0$/ }).waitFor();
    await route.continue();
  });
  await page.getByRole("button", { name: "Undo" }).click();
  await openFindings.filter({ hasText: String(total) }).waitFor();
});

test("all matching means those of now, also where the browser's clock is a day behind", async () => {
  const { api, ...organization } = await createScanned();
  const { page } = await signInTo(organization);
  await page.clock.setSystemTime(Date.now() - 86_400_000);
  await go(page, "Findings");
  expect(await page.getByText("in 1 day").count()).toBe(0);
  const dialog = page.getByRole("dialog");
  await page.getByRole("button", { name: "Select all matching" }).click();
  await page.getByRole("button", { name: "With a reason" }).click();
  await dialog.getByRole("button", { name: "Acknowledge", exact: true }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await api.get("/breaches")).body.unacknowledged).toBe(0);

  // They are reopened; the dialog names the filter of severity.
  await page.getByText(`All ${total} handled.`).waitFor();
  await page.getByRole("link", { name: "Show what was handled" }).click();
  await page.getByRole("combobox", { name: /^Severity/ }).selectOption("High");
  const { total: high } = (await api.get("/breaches?severity=high")).body;
  await page.getByText(`${high} match`).waitFor();
  await page.getByRole("button", { name: "Select all matching" }).click();
  await page.getByRole("button", { name: "Reopen" }).click();
  await dialog.getByText(/acknowledged high findings?, on every page/).waitFor();
  await dialog.getByRole("button", { name: "Reopen" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await api.get("/breaches")).body.unacknowledged).toBe(high);
});
