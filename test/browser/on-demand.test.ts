/** Scripts of pages: which are loaded when, and what happens when one is missing, as after a deployment. */
import type { Page, Route } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { go, isLoaded, signInTo, urlOf, useBrowser, type Visit, visit } from "./visit.ts";

useBrowser();

/** The names of the pages' scripts, without their hashes, and the paths of these. */
const scripts = async (): Promise<Map<string, string>> => {
  const read = async (path: string): Promise<string> =>
    await (await fetch(new URL(path, inject("apiUrl")))).text();
  const [main = ""] = /\/api\/app\/assets\/main-\w+\.js/.exec(await read("/api/app/")) ?? [];
  const names = (await read(main)).matchAll(/import\("\.\/(([a-z-]+)-\w+\.js)"\)/g);
  return new Map([...names].map(([, file, name = ""]) => [name, `/api/app/assets/${file}`]));
};

const loadedBy = async (page: Page): Promise<Set<string>> => {
  const loaded = new Set<string>();
  const names = new Map([...(await scripts())].map(([name, path]) => [path, name]));
  page.on("request", (request) => {
    const name = names.get(new URL(request.url()).pathname);
    if (name !== undefined) loaded.add(name);
  });
  return loaded;
};

/** Answers the script of Alerts, and counts how often the browser loads the page itself. */
const intercept = async (
  { page, watch }: Visit,
  answer: (route: Route, loads: number) => Promise<void>,
): Promise<() => number> => {
  const path = (await scripts()).get("alerts");
  watch.expect(
    `404 ${path}`,
    `ERR_INTERNET_DISCONNECTED ${path}`,
    "ERR_INTERNET_DISCONNECTED /api/app/emails",
  );
  let loads = 0;
  page.on("request", (request) => {
    if (request.isNavigationRequest()) loads += 1;
  });
  await page.route(`**${path}`, (route) => answer(route, loads));
  return () => loads;
};

const notFound = (route: Route) =>
  route.fulfill({ status: 404, json: { error: "There is nothing at this path" } });

const open = async (page: Page): Promise<void> => {
  await page.getByRole("link", { name: "Alerts", exact: true }).click();
};

describe("the script of a page", () => {
  test("is loaded on a first visit, and no other page's script is", async () => {
    const { page } = await visit();
    const loaded = await loadedBy(page);
    await page.goto(urlOf("/sign-in"));
    await page
      .getByRole("button", { name: "Sign in with a passkey" })
      .or(page.getByLabel("E-mail address"))
      .first()
      .waitFor();
    expect([...loaded]).toEqual(["sign-in"]);
  });

  test("is loaded in the background before the page is opened", async () => {
    const { page } = await signInTo(await createOrganization());
    const loaded = await loadedBy(page);
    await page.goto(urlOf("/activity"));
    await isLoaded(page);
    await expect.poll(() => loaded.size).toBe((await scripts()).size);
    loaded.clear();
    for (const name of ["Overview", "Findings", "Breaches", "Settings"]) await go(page, name);
    expect([...loaded]).toEqual([]);
  });
});

describe("a missing script", () => {
  test("loads the page anew once, and with it the present release", async () => {
    const opened = await signInTo(await createOrganization());
    const { page } = opened;
    const loads = await intercept(opened, (route, loads) => (loads < 2 ? notFound(route) : route.continue()));
    await page.goto(urlOf("/emails"));
    await isLoaded(page);
    await open(page);
    await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
    expect([new URL(page.url()).pathname, loads()]).toEqual(["/api/app/alerts", 2]);
  });

  test("that stays missing loads no page again; the page says so", async () => {
    const opened = await signInTo(await createOrganization());
    const { page } = opened;
    let isMissing = true;
    const loads = await intercept(opened, (route) => (isMissing ? notFound(route) : route.continue()));
    await page.goto(urlOf("/emails"));
    await isLoaded(page);
    await open(page);
    await page.getByText("A part of the page could not be loaded. Try again in a moment.").waitFor();
    await go(page, "Domains");
    expect(loads()).toBe(2);
    await go(page, "Overview");
    isMissing = false;
    await open(page);
    await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
    expect(loads()).toBe(2);
  });

  test("for want of a network leaves the page, with another try", async () => {
    const opened = await signInTo(await createOrganization());
    const { page, watch } = opened;
    const loads = await intercept(opened, (route) => route.abort("internetdisconnected"));
    const isTried = page.waitForEvent("requestfailed", (request) => request.url().includes("/alerts-"));
    await page.goto(urlOf("/emails"));
    await isTried;
    await isLoaded(page);
    watch.expect("ERR_INTERNET_DISCONNECTED /api/app/alerts", "ERR_INTERNET_DISCONNECTED /api/app/icon.svg");
    await page.context().setOffline(true);
    await open(page);
    await page.getByText("The service cannot be reached. Check your connection, and try again.").waitFor();
    await page.context().setOffline(false);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { level: 1, name: "Alerts" }).waitFor();
    expect(loads()).toBe(1);
  });
});
