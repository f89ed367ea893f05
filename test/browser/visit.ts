import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject } from "vitest";
import { noBrowser, startBrowser } from "../../local/harness/chromium.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { admin } from "../service/admin.ts";
import { type Watch, watch } from "./watch.ts";

export type Visit = { page: Page; watch: Watch };
/** `apiUrl` is that of a test's own service. */
export type User = { id: number; org: number; email: string; apiUrl?: string };

export const urlOf = (place: string, apiUrl = inject("apiUrl")): string =>
  new URL(`/api/app${place}`, apiUrl).href;

let browser: Browser;
let users = 0;
const visits = new Set<Visit>();

/** The browser ends with the process, in which the tests of many files run. */
const processes = globalThis as { browser?: Promise<Browser> };

/**
 * Pages that are open would go on asking the service, and what they log late would be another test's. So they
 * end before it is counted.
 */
const closeAllBut = async (kept: ReadonlySet<Visit>): Promise<string[]> => {
  const watched = [...visits];
  const closed = watched.filter((each) => !kept.has(each));
  for (const each of closed) visits.delete(each);
  await Promise.all(closed.map(({ page }) => page.context().close()));
  return watched.flatMap(({ watch }) => watch.take());
};

/** Gives the tests of a file the browser; each test fails if its pages caused an error. */
export const useBrowser = (): void => {
  let earlier: ReadonlySet<Visit>;
  beforeAll(async () => {
    if (noBrowser === undefined) {
      processes.browser ??= startBrowser();
      browser = await processes.browser;
    } else if (process.env.CI === "true") throw new Error(noBrowser);
  });
  beforeEach(({ skip }) => {
    if (noBrowser !== undefined) skip(noBrowser);
    earlier = new Set(visits);
  });
  afterEach(async () => {
    expect(await closeAllBut(earlier)).toEqual([]);
  });
  afterAll(async () => {
    await closeAllBut(new Set());
  });
};

/** A browser of somebody who was never here: no cookies, nothing stored. */
export const visit = async (scripts: readonly string[] = [], apiUrl?: string): Promise<Visit> => {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    locale: "en-US",
  });
  // The first request to each function starts a process, which takes seconds on a busy machine.
  context.setDefaultTimeout(60_000);
  for (const path of scripts) await context.addInitScript({ path });
  const watching = await watch(context, new URL(urlOf("", apiUrl)).origin);
  const opened: Visit = { page: await context.newPage(), watch: watching };
  visits.add(opened);
  return opened;
};

type NewUser = { role?: "admin" | "member"; email?: string; apiUrl?: string };
/** `place`: where the user begins. */
type NewVisit = NewUser & { place?: string };

export const createUser = async (
  org: number,
  { role = "admin", email = `browser-${org}-${++users}@demo.example`, apiUrl }: NewUser = {},
): Promise<User> => {
  const { id } = await admin("user create", { org, email, role }, apiUrl);
  return { id, org, email, ...(apiUrl !== undefined && { apiUrl }) };
};

/** The browsers of all tests have one address, whose limit of requests is meant for one visitor. */
const forgetRequests = async (): Promise<void> => {
  const { pk } = keys.limit("DASHBOARD#127.0.0.1", "");
  for (const row of await table.query<Key>({ pk })) await table.remove(row);
};

/** The operator's link for a user, whose browser may make its requests. */
export const linkFor = async ({ org, id, apiUrl }: User): Promise<string> => {
  const { url } = await admin("user sign-in-link", { org, user: id }, apiUrl);
  await forgetRequests();
  return url as string;
};

/** A browser that is signed in. sign-in.test.ts signs in as people do. */
export const signIn = async (
  user: User,
  scripts: readonly string[] = [],
  place = "/emails",
): Promise<Visit> => {
  const { org, id, apiUrl } = user;
  const opened = await visit(scripts, apiUrl);
  const { cookie } = await admin("session create", { org, user: id }, apiUrl);
  const [name = "", value = ""] = (cookie as string).split("=");
  const { hostname: domain } = new URL(urlOf("", apiUrl));
  await opened.page.context().addCookies([{ name, value, domain, path: "/", httpOnly: true }]);
  await opened.page.goto(urlOf(place, apiUrl));
  await opened.page.locator(".organization").waitFor();
  await isLoaded(opened.page);
  return opened;
};

/** Signs in a new user of an organization, an admin unless something else is said. */
export const signInTo = async (
  { id }: { id: number },
  { place, ...newUser }: NewVisit = {},
): Promise<Visit & { user: User }> => {
  const user = await createUser(id, newUser);
  return { ...(await signIn(user, [], place)), user };
};

/** Goes to another page by the navigation, and waits until what it lists is there. */
export const go = async (page: Page, name: string): Promise<void> => {
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await isLoaded(page);
};

/** Waits until nothing on the page loads for the first time. */
export const isLoaded = async (page: Page): Promise<void> => {
  await page.locator(".loading").waitFor({ state: "detached" });
};

/** The scripts that come last: pages register theirs when they are loaded themselves. */
const lastScripts = ["person", "import", "talk", "unwatched-of-breach", "directories"];

/**
 * Waits until the scripts of all pages are loaded, which happens in the background: without a network a
 * missing one is an error.
 */
export const hasAllPages = async (page: Page): Promise<void> => {
  const names = `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)`;
  const missing = async () => {
    const loaded = await page.evaluate<string[]>(names);
    return lastScripts.filter((each) => !loaded.some((path) => path.includes(`/assets/${each}-`)));
  };
  await expect.poll(missing).toEqual([]);
};
