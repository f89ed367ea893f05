import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createUser, go, linkFor, signIn, signInTo, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

describe("signing in", () => {
  test("a link signs in once; the second use says what to do", async () => {
    const user = await createUser((await createOrganization({ name: "Acme Sign-in" })).id);
    const link = await linkFor(user);
    const { page } = await visit();
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await go(page, "E-mails");
    await page.getByText("Acme Sign-in").waitFor();
    await page.getByText(user.email).waitFor();
    expect(page.url()).not.toContain("#");

    const second = await visit();
    second.watch.expect("401 /api/dashboard/sign-in/sessions");
    await second.page.goto(link);
    await second.page.getByRole("button", { name: "Sign in" }).click();
    await second.page.getByRole("alert").waitFor();
    await second.page.getByRole("button", { name: "Ask for another link" }).click();
    await second.page.getByText("sign-in link").first().waitFor();
    expect(await second.page.getByRole("navigation").count()).toBe(0);
  });

  test("whoever is not signed in has to sign in, and then gets the page asked for", async () => {
    const user = await createUser((await createOrganization()).id);
    const { page, watch } = await visit();
    // The page asks for its list at the same time as for the session.
    watch.expect("401 /api/v1/activity");
    await page.goto(urlOf("/activity"));
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    await page.goto(await linkFor(user));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Activity" }).waitFor();
    expect(page.url()).toBe(urlOf("/activity"));
  });
});

describe("signing out", () => {
  test("ends the session, and shows nothing of the organization any more", async () => {
    const { page, watch } = await signInTo(await createOrganization({ name: "Acme Sign-out" }));
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect(await page.getByText("Acme Sign-out").count()).toBe(0);
    watch.expect("401 /api/v1/emails");
    await page.goto(urlOf("/emails"));
    await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
    expect((await page.context().cookies()).map(({ name }) => name)).not.toContain("session");
  });

  test("everywhere else: the other page asks to sign in, and then goes on where it was", async () => {
    const user = await createUser((await createOrganization()).id);
    const here = await signIn(user);
    const there = await signIn(user);
    await go(here.page, "Settings");
    await here.page.getByRole("tab", { name: "Sessions" }).click();
    await here.page.getByText("this session", { exact: true }).waitFor();
    expect(await here.page.getByRole("button", { name: "End", exact: true }).count()).toBe(1);
    await here.page.getByRole("button", { name: "Sign out everywhere else" }).click();
    const asked = here.page.getByRole("dialog", { name: "Sign out everywhere else?" });
    await asked.getByRole("button", { name: "Sign out everywhere else" }).click();
    await here.page.getByRole("button", { name: "End", exact: true }).waitFor({ state: "detached" });
    await here.page.getByText("this session", { exact: true }).waitFor();

    there.watch.expect("401 /api/v1/activity");
    await there.page.getByRole("link", { name: "Activity", exact: true }).click();
    const ended = there.page.getByRole("dialog", { name: "Your session has ended" });
    await ended.waitFor();
    const tab = await there.page.context().newPage();
    await tab.goto(await linkFor(user));
    await tab.getByRole("button", { name: "Sign in" }).click();
    await ended.waitFor({ state: "detached" });
    await there.page.getByRole("row").filter({ hasText: "Created the API key" }).waitFor();
  });
});
