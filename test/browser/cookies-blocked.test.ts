/** Browsers that keep nothing for pages: no cookies, and an exception at each look at stored values. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, onTestFinished, test } from "vitest";
import { startBlockingCookies } from "../../local/harness/chromium.ts";
import { pageUrlOf } from "../../shared/alerting/kinds/email/recipient.ts";
import { createRecipient } from "../dashboard/recipients.ts";
import { createOrganization } from "../service/organization.ts";
import { createUser, linkFor, signIn, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

/** As Firefox does. Chromium has BroadcastChannel all the same. */
const refusing = `
  const refuse = () => { throw new DOMException("The operation is insecure.", "SecurityError"); };
  for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(globalThis, name, { get: refuse });
  globalThis.BroadcastChannel = class { constructor() { refuse(); } };
  Object.defineProperty(Document.prototype, "cookie", { get: () => "", set: () => {} });`;

const open = async (): Promise<Page> => {
  const { page } = await visit();
  await page.context().addInitScript(refusing);
  return page;
};

/** Chromium with its own setting. As chromium-headless-shell it has none, and keeps everything. */
const openBlocking = async (): Promise<Page | undefined> => {
  const context = await startBlockingCookies(mkdtempSync(join(tmpdir(), "profile-")));
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(urlOf("/recipient"));
  const keeps = "try { localStorage; true } catch { false }";
  return (await page.evaluate(keeps)) ? undefined : page;
};

const expectWhole = async (page: Page): Promise<void> => {
  for (const place of ["/", "/sign-in", "/findings?severity=high", "/sign-in#expired-or-cut"]) {
    await page.goto(urlOf(place));
    await page.getByRole("alert").getByText("This browser blocks cookies here").waitFor();
    await page.getByText("then reload this page.").waitFor();
    expect(await page.getByRole("button").count()).toBe(0);
  }
  const { id } = await createOrganization({ name: "Acme Blocked" });
  const { token } = await createRecipient(id);
  await page.goto(pageUrlOf(urlOf("").replace(/\/$/, ""), token));
  await page.getByRole("button", { name: "Unsubscribe" }).click();
  await page.getByText("gets no alerts from Acme Blocked any more.").waitFor();
  await page.getByRole("button", { name: "Get alerts again" }).click();
  await page.getByText("gets alerts from Acme Blocked.").waitFor();
};

describe("without storage", () => {
  test("the recipient's page works, the others say they need cookies", async () => {
    await expectWhole(await open());
  });

  test("the same holds with Chromium's own setting", async ({ skip }) => {
    const page = await openBlocking();
    if (page === undefined) return skip("This browser has no such setting.");
    await expectWhole(page);
  });

  test("a link is not used up: it signs in once cookies are allowed", async () => {
    const user = await createUser((await createOrganization()).id);
    const link = await linkFor(user);
    const page = await open();
    await page.goto(link);
    await page.getByText("A sign-in link is not used up until then.").waitFor();
    const { page: allowed } = await visit();
    await allowed.goto(link);
    await allowed.getByRole("button", { name: "Sign in" }).click();
    await allowed.getByText(`Signed in as ${user.email}`).waitFor();
  });

  test("a session goes on as long as its cookie is there", async () => {
    const opened = await signIn(await createUser((await createOrganization()).id));
    const { page } = opened;
    await page.context().addInitScript(refusing);
    await page.goto(urlOf("/findings"));
    await page.getByText("There are no findings.").waitFor();
  });
});

test("a person whose cookie was removed is told so after signing in", async () => {
  const user = await createUser((await createOrganization()).id);
  const { page } = await visit();
  await page.route("**/api/dashboard/sign-in/sessions", async (route) => {
    const response = await route.fetch();
    await page.context().clearCookies();
    const { "set-cookie": _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });
  await page.goto(await linkFor(user));
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").getByText("You signed in, but the browser kept no cookie of it.").waitFor();
});
