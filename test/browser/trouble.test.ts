/** What goes wrong under the hands of people: nothing that they typed is lost, and the page says what to do. */
import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createUser, go, hasAllPages, linkFor, signIn, signInTo, useBrowser, type Visit } from "./visit.ts";

useBrowser();

/** Types an address into the dialog of Add e-mail, and sends it. */
const addAda = async ({ page }: Visit) => {
  await page.getByRole("button", { name: "Add e-mail" }).click();
  const dialog = page.getByRole("dialog", { name: "Add e-mail" });
  await dialog.getByLabel("E-mail address").fill("ada@demo.example");
  await dialog.getByLabel("Owner").fill("Ada Lovelace");
  await dialog.getByRole("option", { name: "demo.example" }).waitFor({ state: "attached" });
  return { dialog, submit: dialog.getByRole("button", { name: "Add e-mail" }) };
};

describe("a session that ends under an open dialog", () => {
  test("what was typed is still there, and sent after signing in again", async () => {
    const { api, id } = await createOrganization();
    const user = await createUser(id);
    const opened = await signIn(user);
    const { page, watch } = opened;
    const { dialog, submit } = await addAda(opened);
    const { page: elsewhere } = await signIn(user);
    await go(elsewhere, "Settings");
    await elsewhere.getByRole("tab", { name: "Sessions" }).click();
    await elsewhere.getByText("this session", { exact: true }).waitFor();
    const other = elsewhere.getByRole("button", { name: "End", exact: true });
    expect(await other.count()).toBe(1);
    const everywhereElse = { name: "Sign out everywhere else" };
    await elsewhere.getByRole("button", everywhereElse).click();
    const asked = elsewhere.getByRole("dialog", { name: "Sign out everywhere else?" });
    await asked.getByRole("button", everywhereElse).click();
    await other.waitFor({ state: "detached" });
    await elsewhere.getByText("this session", { exact: true }).waitFor();

    watch.expect("401 /api/v1/emails");
    await submit.click();
    const ended = page.getByRole("dialog", { name: "Your session has ended" });
    await ended.getByText("Nothing that you typed is lost.").waitFor();
    // Esc leaves it, and what is below it, where they are.
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await ended.waitFor();
    expect(await dialog.getByLabel("Owner").inputValue()).toBe("Ada Lovelace");
    const tab = await page.context().newPage();
    await tab.goto(await linkFor(user));
    await tab.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("rowheader", { name: "ada@demo.example" }).waitFor();
    expect((await api.get("/emails")).body).toMatchObject({
      emails: [{ ownerName: "Ada Lovelace" }],
      total: 1,
    });
  });

  test("another user who signs in there sees nothing of what was on the screen", async () => {
    const { id } = await createOrganization({ name: "Acme Before" });
    const opened = await signIn(await createUser(id));
    const { page, watch } = opened;
    const other = await createUser((await createOrganization({ name: "Acme After" })).id);
    await page.context().clearCookies();
    watch.expect("401 /api/v1/activity");
    await page.getByRole("link", { name: "Activity", exact: true }).click();
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(await linkFor(other));
    await tab.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("banner").getByText("Acme After").waitFor();
    expect(await page.getByText("Acme Before").count()).toBe(0);
  });
});

test("an answer that is another network's page is a failure, and the page works on", async () => {
  const { page } = await signInTo(await createOrganization());
  const findings = "**/api/dashboard/findings?*";
  await page.route(findings, (route) => route.fulfill({ contentType: "text/html", body: "<p>Welcome</p>" }));
  await page.getByRole("link", { name: "Findings", exact: true }).click();
  await page.getByText("The service did not answer as expected. Check your connection").waitFor();
  await page.unroute(findings);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("There are no findings.").waitFor();
});

describe("no network", () => {
  test("a dialog keeps what was typed; a page says what to do and loads again", async () => {
    const { api, id } = await createOrganization();
    const opened = await signInTo({ id });
    const { page, watch } = opened;
    const { dialog, submit } = await addAda(opened);
    await hasAllPages(page);
    watch.expect(
      "ERR_INTERNET_DISCONNECTED /api/app/icon.svg",
      "ERR_INTERNET_DISCONNECTED /api/v1/emails",
      "ERR_INTERNET_DISCONNECTED /api/dashboard/domains",
      "ERR_INTERNET_DISCONNECTED /api/dashboard/findings",
      "ERR_INTERNET_DISCONNECTED /api/dashboard/session",
    );
    await page.context().setOffline(true);
    await submit.click();
    await dialog.getByText("The service cannot be reached. Check your connection, and try again.").waitFor();
    expect(await dialog.getByLabel("Owner").inputValue()).toBe("Ada Lovelace");
    await page.context().setOffline(false);
    await submit.click();
    await dialog.waitFor({ state: "detached" });
    expect((await api.get("/emails")).body.total).toBe(1);

    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Findings", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "Check your connection" }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("There are no findings.").waitFor();
    await go(page, "E-mails");

    await page.context().setOffline(true);
    const signOut = page.getByRole("button", { name: "Sign out" });
    await signOut.click();
    await page.getByRole("banner").getByText("Check your connection").waitFor();
    // The button itself is the way to try again.
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    await page.context().setOffline(false);
    await signOut.click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  });
});
