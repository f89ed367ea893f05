import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { addEmail } from "../endpoints/emails.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createUser, isLoaded, signIn, urlOf, useBrowser, type Visit, visit } from "./visit.ts";

useBrowser();

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** The places whose pages are checked, with and without data. */
const places = [
  "/",
  "/findings",
  "/emails",
  "/domains",
  "/scans",
  "/alerts",
  "/activity",
  "/settings/api-keys",
  "/settings/members",
  "/settings/teams",
  "/settings/sessions",
  "/settings/organization",
];

/** What these places ask for. */
const failing = [
  "/app/icon.svg",
  "/dashboard/overview",
  "/dashboard/findings",
  "/v1/emails",
  "/dashboard/domains",
  "/v1/scans",
  "/v1/alert-configs",
  "/v1/activity",
  "/dashboard/api-keys",
  "/dashboard/members",
  "/dashboard/teams",
  "/dashboard/sessions",
  "/dashboard/organization",
];

/** What axe-core finds and what is wider than the screen, in light and dark, at 320 and 1280 pixels. */
const problems = async (page: Page): Promise<string[]> => {
  const found: string[] = [];
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (overflow > 0) found.push(`${width} px: ${overflow} px too wide`);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const violations = await page.evaluate<string[]>(
        `axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
           nodes.map(({ target, failureSummary }) => [id, target.join(" "), failureSummary].join(": "))))`,
      );
      found.push(...violations.map((each) => `${width} px, ${colorScheme}: ${each}`));
    }
  }
  return found;
};

/** Everything that the pages list, once. */
const createFull = async (): Promise<number> => {
  const { id: org, api, domainId } = await createOrganization({ name: "A company with a rather long name" });
  for (const name of ["ada", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
  const off = await addEmail(api, domainId, "a-very-long-address-of-somebody-who-left@demo.example");
  await api.patch(`/emails/${off}`, { isActive: false });
  await admin("domain add", { org, name: "not-verified.example" });
  const channel = {
    channel: "webhook",
    config: { url: `${inject("receiverUrl")}/accessibility` },
    isEnabled: true,
    notifyOnNewBreach: true,
    notifyOnScanComplete: true,
    notifyOnScanError: true,
  };
  expect(await api.post("/alert-configs", channel)).toMatchObject({ status: 201 });
  await scan(api);
  return org;
};

describe("axe-core finds nothing, light and dark, at 320 and 1280 pixels", () => {
  const signedIn: Partial<Record<"empty" | "full", Visit>> = {};

  beforeAll(async () => {
    if (noBrowser !== undefined) return;
    signedIn.empty = await signIn(await createUser((await createOrganization()).id), [axe]);
    signedIn.full = await signIn(await createUser(await createFull()), [axe]);
    const { page } = signedIn.full;
    await page.goto(urlOf("/settings/teams"));
    await page.getByRole("button", { name: "Add team" }).click();
    await page.getByLabel("Name").fill("Finance");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "Finance" }).waitFor();
  }, 180_000);

  const cases = places.flatMap((place) => [
    { place, state: "empty" as const },
    { place, state: "full" as const },
  ]);
  test.each(cases)("$place, $state", async ({ place, state }) => {
    const page = signedIn[state]?.page as Page;
    await page.goto(urlOf(place));
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator(".organization").waitFor();
    await isLoaded(page);
    expect(await problems(page)).toEqual([]);
  });

  test.each(["Add e-mail", "Import", "Edit", "Remove"])("the dialog of %s", async (name) => {
    const page = signedIn.full?.page as Page;
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(urlOf("/emails"));
    await page.getByRole("button", { name, exact: true }).first().click();
    await page.getByRole("dialog").waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the sign-in page, without and with a link", async () => {
    const { page } = await visit([axe]);
    await page.goto(urlOf("/sign-in"));
    await page.getByText("sign-in link").first().waitFor();
    expect(await problems(page)).toEqual([]);
    await page.goto(urlOf("/sign-in#not-a-token"));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the page of a lapsed subscription", async () => {
    const { id: org } = await createOrganization();
    const { page, watch } = await signIn(await createUser(org), [axe]);
    await admin("org billing", { org, status: "trial_expired" });
    watch.expect("402 /api/v1/emails");
    await page.goto(urlOf("/emails"));
    await page.getByRole("heading", { level: 1, name: "Subscription lapsed" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test.each(places)("%s, failing", async (place) => {
    const { page, watch } = signedIn.empty as Visit;
    await page.goto(urlOf("/activity"));
    await page.locator(".organization").waitFor();
    await isLoaded(page);
    // Without network the page itself cannot be loaded: one goes there as by a link.
    await page.context().setOffline(true);
    watch.expect(...failing.map((path) => `ERR_INTERNET_DISCONNECTED /api${path}`));
    await page.evaluate(`{
      history.pushState(null, "", "${urlOf(place)}?offset=1");
      dispatchEvent(new PopStateEvent("popstate"));
    }`);
    await page.getByRole("alert").filter({ hasText: "Check your connection" }).first().waitFor();
    const found = await problems(page);
    await page.context().setOffline(false);
    expect(found).toEqual([]);
  });

  test("the check itself finds a button without a name and what is too wide", async () => {
    const { page } = await visit([axe]);
    await page.goto(urlOf("/sign-in#not-a-token"));
    const button = page.getByRole("button", { name: "Sign in" });
    await button.waitFor();
    await page.evaluate(`{
      const button = document.querySelector("button");
      button.textContent = "";
      button.style.minWidth = "2000px";
    }`);
    const found = (await problems(page)).join("\n");
    expect(found).toMatch(/^320 px, dark: button-name/m);
    expect(found).toMatch(/^1280 px: \d+ px too wide/m);
  });
});
