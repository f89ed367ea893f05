/** What goes wrong under the hands of people: nothing that they typed is lost, and the page says what to do. */
import { describe, expect, test } from "vitest";
import { refusals } from "../../shared/contract/errors.ts";
import { createOrganization } from "../service/organization.ts";
import {
  createUser,
  go,
  hasAllPages,
  linkFor,
  signIn,
  signInTo,
  urlOf,
  useBrowser,
  type Visit,
} from "./visit.ts";

useBrowser();

const addAda = async ({ page }: Visit) => {
  await page.getByRole("button", { name: "Add e-mail" }).click();
  const dialog = page.getByRole("dialog", { name: "Add e-mail" });
  await dialog.getByLabel("E-mail address").fill("ada@demo.example");
  await dialog.getByLabel("Owner").fill("Ada Lovelace");
  await dialog.getByRole("option", { name: "demo.example" }).waitFor({ state: "attached" });
  return { dialog, submit: dialog.getByRole("button", { name: "Add e-mail" }) };
};

describe("a lost session", () => {
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
    // Esc leaves it, and the page below it, where they are.
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

  test("does not show its screen to another user who signs in there", async () => {
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

test("what is gone is not asked for again; who is asked to try again is asked once", async () => {
  const { page, watch } = await signInTo(await createOrganization());
  const again = page.getByRole("button", { name: "Try again" });
  for (const [place, path, sentence] of [
    ["/emails/999999", "emails/999999", "This address is not watched here: it may have been removed."],
    ["/findings/999999", "findings/999999", "There is no such finding here: it may have been removed"],
    ["/alerts?channel=9999", "alert-configs/9999/deliveries", "There is no such channel here"],
  ] as const) {
    watch.expect(`404 /api/dashboard/${path}`);
    await page.goto(urlOf(place));
    await page.getByRole("alert").getByText(sentence).waitFor();
    expect(await again.count()).toBe(0);
    expect(await page.getByRole("button", { name: "Send test" }).count()).toBe(0);
  }
  const { status, error } = refusals.busy;
  watch.expect(`${status} /api/dashboard/breaches`);
  await page.route("**/api/dashboard/breaches?*", (route) => route.fulfill({ status, json: { error } }));
  await page.getByRole("link", { name: "Breaches", exact: true }).click();
  await again.waitFor();
  expect((await page.getByRole("alert").innerText()).match(/try again/gi)).toHaveLength(2);
});

test("a cut address leads to the whole list; a search says what it needs", async () => {
  const { page, watch } = await signInTo(await createOrganization());
  for (const [place, path] of [
    ["/findings?severity=cut", "findings"],
    ["/findings?breachId=12x", "findings"],
    ["/emails?teamId=x", "emails"],
    ["/breaches?order=best", "breaches"],
  ] as const) {
    watch.expect(`400 /api/dashboard/${path}`);
    await page.goto(urlOf(place));
    await page.getByText("This address names a filter that is not known here").waitFor();
    await page.getByRole("link", { name: /^Show all / }).click();
    await page
      .getByText(/^There are no (?:findings|breaches)|^No address is watched/)
      .first()
      .waitFor();
  }
  await page.goto(urlOf("/emails?q=-"));
  await page.getByRole("alert").getByText("The search must have at least 2 characters.").waitFor();
});

test("without a network a dialog keeps what was typed; a page says it, and loads again", async () => {
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
