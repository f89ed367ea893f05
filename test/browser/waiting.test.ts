import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { go, signInTo, useBrowser } from "./visit.ts";

useBrowser();

describe("too many requests", () => {
  const refusal = (seconds: number) => ({
    status: 429,
    headers: { "Retry-After": String(seconds) },
    json: { error: "Too many" },
  });

  test("the page says that and how long it waits, and then continues", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    watch.expect("429 /api/dashboard/domains");
    await page.clock.install();
    await page.route("**/api/dashboard/domains?*", (route) => route.fulfill(refusal(50)), { times: 1 });
    await page.getByRole("banner").getByRole("link", { name: "Domains", exact: true }).click();
    await page.getByText("Too many requests at once. The page continues by itself in a moment.").waitFor();
    await page.getByText(/^[1-5]?\d s$/).waitFor();
    await page.clock.fastForward(50_000);
    await page.getByRole("rowheader", { name: "demo.example" }).waitFor();
    await page.getByText("Too many requests").waitFor({ state: "detached" });
  });

  test("the page no longer waits once somebody has left it", async () => {
    const { page, watch } = await signInTo(await createOrganization());
    watch.expect("429 /api/v1/scans");
    await page.route("**/api/v1/scans?*", (route) => route.fulfill(refusal(60)));
    await page.getByRole("link", { name: "Scans", exact: true }).click();
    await page.getByText("Too many requests at once.").waitFor();
    await go(page, "Domains");
    // Long before the end of the minute.
    await page.getByText("Too many requests").waitFor({ state: "detached", timeout: 45_000 });
  });
});

test("a page asks again when the service is busy, and says so if it stays busy", async () => {
  const { page } = await signInTo(await createOrganization());
  const refusal = { status: 503, headers: { "Retry-After": "1" }, json: { error: "Busy" } };
  await page.route("**/api/dashboard/domains?*", (route) => route.fulfill(refusal), { times: 2 });
  await go(page, "Domains");
  await page.getByRole("rowheader", { name: "demo.example" }).waitFor();
  await page.route("**/api/v1/scans?*", (route) => route.fulfill(refusal));
  await page.getByRole("link", { name: "Scans", exact: true }).click();
  await page.getByRole("alert").waitFor();
});

test("signing out succeeds although the service is busy at first", async () => {
  const { page } = await signInTo(await createOrganization());
  const refusal = { status: 503, headers: { "Retry-After": "1" }, json: { error: "Busy" } };
  await page.route("**/api/dashboard/session", (route) => route.fulfill(refusal), { times: 2 });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
});

test("what stays as it is for ten minutes is asked for ever more seldom", async () => {
  const { page } = await signInTo(await createOrganization());
  const counts = { scannedEmails: 1, totalEmails: 9, newBreachesFound: 0 };
  const times = { startedAt: "2026-11-27T09:00:00Z", completedAt: null };
  const running = { id: 1, status: "running", ...times, ...counts };
  let asked = 0;
  await page.route("**/api/v1/scans?*", async (route) => {
    asked += 1;
    await route.fulfill({ json: { scans: [running], total: 1 } });
  });
  await page.clock.install();
  await go(page, "Scans");
  for (let second = 0; second < 600; second += 10) {
    await page.clock.runFor(10_000);
    await page.locator("table[aria-busy=false]").waitFor();
  }
  expect(asked).toBeGreaterThan(5);
  expect(asked).toBeLessThan(25);
});
