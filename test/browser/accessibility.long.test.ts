import type { Page } from "playwright-core";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { noBrowser } from "../../local/harness/chromium.ts";
import { addresseesOf } from "../../shared/alerting/kinds/email/recipient.ts";
import { signedIn as sessionOf } from "../dashboard/signed-in.ts";
import { addEmail } from "../endpoints/emails.ts";
import { scimClient } from "../people/connected.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { axe, places, problems } from "./axe.ts";
import {
  createUser,
  hasAllPages,
  isLoaded,
  linkFor,
  signIn,
  urlOf,
  useBrowser,
  type Visit,
  visit,
} from "./visit.ts";

useBrowser();

/** What these places ask for. */
const failing = [
  "/app/icon.svg",
  "/dashboard/overview",
  "/dashboard/findings",
  "/dashboard/emails",
  "/dashboard/breaches",
  "/dashboard/domains",
  "/dashboard/unwatched",
  "/v1/scans",
  "/v1/alert-configs",
  "/v1/activity",
  "/dashboard/api-keys",
  "/dashboard/members",
  "/dashboard/teams",
  "/dashboard/directories",
  "/dashboard/sessions",
  "/dashboard/organization",
];

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
  const { dashboard } = await sessionOf(org);
  const { body: directory } = await dashboard.post("/directories", { name: "Entra" });
  const scim = scimClient(directory.token as string);
  for (const userName of ["ada@demo.example", "ada@elsewhere.example", "robot"])
    expect((await scim.post("/Users", { userName })).status).toBe(201);
  await scan(api);
  const breaches = await api.list("/breaches");
  expect((await api.post("/breaches/acknowledge", { id: breaches.at(-1)?.id })).status).toBe(200);
  return org;
};

describe("axe-core", () => {
  const signedIn: Partial<Record<"empty" | "full", Visit>> = {};
  let full = 0;

  beforeAll(async () => {
    if (noBrowser !== undefined) return;
    signedIn.empty = await signIn(await createUser((await createOrganization()).id), [axe]);
    full = await createFull();
    const user = await createUser(full);
    // A session besides the browser's, which can be signed out.
    await admin("session create", { org: user.org, user: user.id });
    signedIn.full = await signIn(user, [axe]);
    const { page } = signedIn.full;
    await page.goto(urlOf("/settings/teams"));
    await page.getByRole("button", { name: "Add team" }).click();
    await page.getByLabel("Name").fill("Finance");
    await page.keyboard.press("Enter");
    await page.getByRole("rowheader", { name: "Finance" }).waitFor();
  });

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

  test.each(places)("%s, where nothing answers", async (place) => {
    const { page, watch } = signedIn.empty as Visit;
    await page.goto(urlOf("/activity"));
    await page.locator(".organization").waitFor();
    await isLoaded(page);
    await hasAllPages(page);
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

  /** "of a row": one is selected first. */
  const dialogs: readonly [place: string, name: string, of?: "of a row"][] = [
    ["/findings", "ada@demo.example"],
    ["/findings", "With a reason", "of a row"],
    ["/findings", "Tell the owner", "of a row"],
    ["/findings?acknowledged=true", "Reopen", "of a row"],
    ["/findings", "Export CSV"],
    ["/emails", "Add e-mail"],
    ["/emails", "Import"],
    ["/emails", "Edit"],
    ["/emails", "Remove"],
    ["/emails", "Team", "of a row"],
    ["/emails", "Remove", "of a row"],
    ["/domains", "Add domain"],
    ["/domains", "Check now"],
    ["/domains", "Remove"],
    ["/domains/unwatched", "Watch", "of a row"],
    ["/alerts", "Add channel"],
    ["/alerts", "Edit"],
    ["/alerts", "Delete"],
    ["/settings/api-keys", "Create API key"],
    ["/settings/api-keys", "Revoke"],
    ["/settings/members", "Invite"],
    ["/settings/members", "Edit"],
    ["/settings/members", "Remove"],
    ["/settings/sessions", "Sign out everywhere else"],
    ["/settings/teams", "Add team"],
    ["/settings/teams", "Rename"],
    ["/settings/teams", "Delete"],
    ["/settings/directory", "Connect a directory"],
    ["/settings/directory", "Edit"],
    ["/settings/directory", "Replace token"],
    ["/settings/directory", "Disconnect"],
    ["/settings/directory", "1 active user"],
  ];
  test.each(dialogs)("%s, the dialog of %s", async (place, name, of) => {
    const page = signedIn.full?.page as Page;
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(urlOf(place));
    await isLoaded(page);
    if (of !== undefined) await page.getByRole("row").nth(1).getByRole("checkbox").check();
    await page.getByRole("main").getByRole("button", { name, exact: true }).first().click();
    await page.getByRole("dialog").waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the dialog of a session that has ended", async () => {
    const { id: org } = await createOrganization();
    const { page, watch } = await signIn(await createUser(org), [axe]);
    watch.expect("401 /api/v1/activity");
    await page.context().clearCookies();
    await page.getByRole("link", { name: "Activity", exact: true }).click();
    await page.getByRole("dialog", { name: "Your session has ended" }).getByRole("button").first().waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the dialogs of a scan and of a new API key, and a channel's deliveries", async () => {
    const page = signedIn.full?.page as Page;
    await page.goto(urlOf("/scans"));
    await page.getByRole("cell").getByRole("button").first().click();
    await page.getByRole("dialog").getByText("Checked", { exact: true }).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.goto(urlOf("/settings/api-keys"));
    await page.getByRole("button", { name: "Create API key" }).click();
    await page.getByLabel("Label").fill("Export");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Your new API key" }).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.goto(urlOf("/alerts"));
    await page.getByRole("button", { name: "Send test" }).click();
    await page.getByText("A test is on its way.").waitFor();
    await page.getByRole("button", { name: "Deliveries" }).click();
    const delivery = page.getByRole("rowheader").getByRole("button").first();
    await delivery.waitFor();
    expect(await problems(page)).toEqual([]);
    await delivery.click();
    await page.getByRole("dialog").getByRole("heading", { name: "Sent" }).waitFor();
    expect(await problems(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Replay what failed" }).click();
    expect(await problems(page)).toEqual([]);
  });

  test("the preview of an import, and of who is missing from its file", async () => {
    // Where a directory is connected, it says who has left.
    const { id: org, api, domainId } = await createOrganization();
    for (const name of ["ada", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
    const { page } = await signIn(await createUser(org), [axe]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(urlOf("/emails"));
    await page.getByRole("button", { name: "Import" }).click();
    const buffer = Buffer.from("email,team,phone\nnew@demo.example,New,1\nnone,,2\nx@other.example,,3");
    await page.getByLabel("File").setInputFiles({ name: "people.csv", mimeType: "text/csv", buffer });
    await page.getByText("Teams that will be created: New").waitFor();
    expect(await problems(page)).toEqual([]);
    await page.getByRole("button", { name: "Disable those who are missing" }).click();
    await page.getByText("enabled addresses of the file's domains").waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the pages of a breach, a finding and an address, and the shortcuts", async () => {
    // A user may ask for the session fifty times a minute, and a quick machine has done so before.
    const { page } = await signIn(await createUser(full), [axe]);
    const open = async (place: string) => {
      await page.goto(urlOf(place));
      await page.getByRole("rowheader").first().getByRole("link").click();
      await isLoaded(page);
    };
    for (const place of ["/breaches", "/emails"]) {
      await open(place);
      expect(await problems(page)).toEqual([]);
    }
    await page.goto(urlOf("/emails"));
    await page.getByRole("link", { name: "ada@demo.example" }).click();
    await page
      .getByRole("rowheader")
      .getByRole("link", { name: /invented/ })
      .first()
      .click();
    await page.getByText("What to do").waitFor();
    expect(await problems(page)).toEqual([]);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the sign-in page, without and with a link", async () => {
    const { page, watch } = await visit([axe]);
    await page.goto(urlOf("/sign-in"));
    await page.getByText("sign-in link").first().waitFor();
    expect(await problems(page)).toEqual([]);
    await page.goto(await linkFor(await createUser((await createOrganization()).id)));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    expect(await problems(page)).toEqual([]);
    watch.expect("401 /api/dashboard/sign-in/links/lookup");
    await page.goto("about:blank");
    await page.goto(urlOf("/sign-in#not-a-token"));
    await page.getByRole("button", { name: "Ask for another link" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the page of a recipient's link", async () => {
    const { id: org } = await createOrganization();
    const [recipient] = await addresseesOf(org, ["reader@other.example"]);
    const { page } = await visit([axe]);
    await page.goto(urlOf(`/recipient#${recipient?.token}`));
    await page.getByRole("button", { name: "Unsubscribe" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("the page of a lapsed subscription", async () => {
    const { id: org } = await createOrganization();
    const { page, watch } = await signIn(await createUser(org), [axe]);
    await admin("org billing", { org, status: "trial_expired" });
    watch.expect("402 /api/dashboard/emails");
    await page.goto(urlOf("/emails"));
    await page.getByRole("heading", { level: 1, name: "Subscription lapsed" }).waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("this check finds a nameless button, what is too wide, and dark on dark", async () => {
    const { page } = await visit([axe]);
    await page.goto(await linkFor(await createUser((await createOrganization()).id)));
    const button = page.getByRole("button", { name: "Sign in" });
    await button.waitFor();
    await page.evaluate(`{
      const button = document.querySelector("button");
      button.textContent = "";
      button.style.minWidth = "2000px";
      document.styleSheets[0].insertRule("@media (prefers-color-scheme: dark) { h1 { color: #222 !important } }");
    }`);
    const found = (await problems(page)).join("\n");
    expect(found).toMatch(/^320 px, light: button-name/m);
    expect(found).toMatch(/^1280 px, dark: color-contrast/m);
    expect(found).not.toMatch(/light: color-contrast/);
    expect(found).toMatch(/^1280 px: \d+ px too wide/m);
  });
});
