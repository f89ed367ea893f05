import { describe, expect, test } from "vitest";
import { linkIn, untilMailed } from "../dashboard/outbox.ts";
import { createOrganization } from "../service/organization.ts";
import { press } from "./keyboard.ts";
import { createUser, go, linkFor, signIn, signInTo, urlOf, useBrowser, visit } from "./visit.ts";

useBrowser();

/** The link in the only mail to an address. */
const mailedLink = async (address: string): Promise<string> => linkIn((await untilMailed(address))[0]).href;

describe("a link while signed in", () => {
  test("names the session, which a second button ends in all tabs", async () => {
    const first = await createUser((await createOrganization({ name: "Acme First" })).id);
    const second = await createUser((await createOrganization({ name: "Acme Second" })).id);
    const { page } = await signIn(first);
    const tab = await page.context().newPage();
    await tab.goto(await linkFor(second));
    await tab.getByText(`You are signed in as ${first.email} to Acme First.`).waitFor();
    await tab.getByRole("button", { name: "Sign in" }).click();
    await tab.getByText(`signs ${first.email} out in this browser`).waitFor();
    await page.reload();
    await page.getByRole("banner").getByText("Acme First").waitFor();
    await tab.getByRole("button", { name: "Sign out and sign in" }).click();
    await tab.getByText(`Signed in as ${second.email} to Acme Second.`).waitFor();
    await page.getByRole("banner").getByText("Acme Second").waitFor();
  });

  test("can be left without using it", async () => {
    const user = await createUser((await createOrganization({ name: "Acme Stays" })).id);
    const { page } = await signIn(user);
    const link = await linkFor(user);
    await page.goto(link);
    await page.getByRole("link", { name: "Stay signed in" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    const other = await visit();
    await other.page.goto(link);
    await other.page.getByRole("button", { name: "Sign in" }).click();
    await other.page.getByText(`Signed in as ${user.email} to Acme Stays.`).waitFor();
  });
});

describe("a changed link", () => {
  test("that lost its token says that a part is missing, and what to do", async () => {
    const user = await createUser((await createOrganization()).id);
    const { page } = await visit();
    await page.goto(urlOf("/sign-in"));
    await page.getByText("Then a part of it is missing").waitFor();
    await page.getByText("copy the whole link as text").waitFor();
    await page.getByLabel("E-mail address").waitFor();
    // As people do who paste the whole link.
    await page.goto(await linkFor(user));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText(`Signed in as ${user.email}`).waitFor();
  });

  test("signs in all the same, and leaves the address", async () => {
    const user = await createUser((await createOrganization()).id);
    for (const change of [
      (link: string) => link.replace("#", "%23"),
      (link: string) => `${link}?utm_source=mail`,
      // A mail program took the bracket behind the link for a part of it.
      (link: string) => `${link}>`,
    ]) {
      const { page } = await visit();
      await page.goto(change(await linkFor(user)));
      expect(await page.getByText("good").count()).toBe(0);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText(`Signed in as ${user.email}`).waitFor();
      expect(page.url()).not.toContain("#");
      await go(page, "E-mails");
      expect(await page.getByText("Signed in as").count()).toBe(0);
    }
  });
});

describe("a mailed link", () => {
  test("is asked for and signs in, by the keyboard alone", async () => {
    const { email } = await createUser((await createOrganization()).id);
    const { page } = await visit();
    await page.goto(urlOf("/sign-in"));
    await page.getByLabel("E-mail address").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("name")).toBe("email");
    await page.keyboard.type(email);
    await press(page, "Send sign-in link");
    await page.getByText(`If somebody has the address ${email}, a sign-in link is on its way.`).waitFor();
    await page.goto(await mailedLink(email));
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await press(page, "Sign in");
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  test("of a user of two organizations asks which", async () => {
    const [one, other] = [
      await createOrganization({ name: `Acme One ${"N".repeat(80)}` }),
      await createOrganization({ name: "Acme Two" }),
    ];
    const user = await createUser(one.id);
    await createUser(other.id, { email: user.email });
    const { page } = await visit();
    await page.goto(urlOf("/sign-in"));
    await page.getByLabel("E-mail address").fill(user.email);
    await page.keyboard.press("Enter");
    await page.goto(await mailedLink(user.email));
    await page.getByRole("heading", { name: "Choose an organization" }).waitFor();
    await page.getByText(`The link is for ${user.email}.`).waitFor();
    await page.getByRole("button", { name: "Acme One" }).waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBe(0);
    await page.getByRole("button", { name: "Acme Two" }).click();
    await page.getByRole("banner").getByText("Acme Two").waitFor();
    expect(await page.getByText("Acme One").count()).toBe(0);
  });
});

describe("a link that is not good", () => {
  // redeem-sign-in-link.test.ts has used and old ones, which are refused in the same words.
  test("foreign, or cut off: one sentence, and a way to another", async () => {
    const user = await createUser((await createOrganization()).id);
    const { page, watch } = await visit();
    watch.expect("401 /api/dashboard/sign-in/links/lookup");
    for (const link of [urlOf(`/sign-in#${"A".repeat(32)}`), (await linkFor(user)).slice(0, -3)]) {
      await page.goto("about:blank");
      await page.goto(link);
      await page.getByRole("alert").filter({ hasText: "link" }).waitFor();
      await page.getByText("Links work once, and for a limited time. Ask for another:").waitFor();
    }
    await page.getByRole("button", { name: "Ask for another link" }).click();
    await page.getByLabel("E-mail address").waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
  });
});

test("signing out ends the session, and shows nothing of the organization any more", async () => {
  const { page, watch } = await signInTo(await createOrganization({ name: "Acme Sign-out" }));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect(await page.getByText("Acme Sign-out").count()).toBe(0);
  watch.expect("401 /api/dashboard/emails");
  await page.goto(urlOf("/emails"));
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain("session");
});
