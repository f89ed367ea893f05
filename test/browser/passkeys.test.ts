import type { CDPSession, Page } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { attachDevice } from "./authenticator.ts";
import { axe, problems } from "./axe.ts";
import { press } from "./keyboard.ts";
import { createUser, go, isLoaded, linkFor, urlOf, useBrowser, type Visit, visit } from "./visit.ts";

useBrowser();

/** Browsers have passkeys of names, and none of IP addresses. */
const named = (url: string): string => {
  const renamed = new URL(url);
  renamed.hostname = "localhost";
  return renamed.href;
};

/** The device answers suggestions too, as if somebody had chosen its passkey among them: tests of the button have a browser without these. */
const attachAuthenticator = async (
  page: Page,
  { suggests = false }: { suggests?: boolean } = {},
): Promise<{ session: CDPSession; authenticatorId: string }> => {
  if (!suggests)
    await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  return attachDevice(page);
};

const signInAtName = async (): Promise<Visit & { email: string }> => {
  const user = await createUser((await createOrganization({ name: "Acme Passkeys" })).id);
  const opened = await visit([axe], named(inject("apiUrl")));
  await opened.page.goto(named(await linkFor(user)));
  await opened.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await go(opened.page, "E-mails");
  return { ...opened, email: user.email };
};

const openSessions = async (page: Page): Promise<void> => {
  await page.goto(named(urlOf("/settings/sessions")));
  await page.getByRole("heading", { name: "Passkeys" }).waitFor();
  await isLoaded(page);
};
const passkeyButton = { name: "Sign in with a passkey" };

describe("a passkey", () => {
  test("is added, signs in, and is refused once it is removed; by the keyboard alone", async () => {
    const { page, watch, email } = await signInAtName();
    const { session, authenticatorId } = await attachAuthenticator(page);
    await openSessions(page);
    await page.getByText("You have no passkey here yet.").waitFor();
    await press(page, "Add passkey");
    const passkeys = page.getByRole("table", { name: "passkeys" });
    await passkeys.getByText(/Chrome on \w+,/).waitFor();
    await passkeys.getByRole("cell", { name: "never" }).waitFor();
    const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
    expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: "localhost" }]);

    watch.expect("401 /api/dashboard/emails", "401 /api/dashboard/sessions", "401 /api/dashboard/sign-in");
    await press(page, "Sign out");
    await page.getByRole("button", passkeyButton).waitFor();
    await press(page, "Sign in with a passkey");
    await page.getByText(`Signed in as ${email} to Acme Passkeys.`).waitFor();

    await openSessions(page);
    expect(await passkeys.getByRole("cell", { name: "never" }).count()).toBe(0);
    await press(page, "Remove");
    const dialog = page.getByRole("dialog", { name: "Remove this passkey?" });
    await dialog.waitFor();
    expect(await problems(page)).toEqual([]);
    await press(page, "Remove");
    await page.getByText("You have no passkey here yet.").waitFor();

    await press(page, "Sign out");
    await page.getByRole("button", passkeyButton).waitFor();
    await press(page, "Sign in with a passkey");
    await page.getByRole("alert").getByText("This passkey is not known here, or was removed").waitFor();
    expect(await problems(page)).toEqual([]);
  });

  test("signs in where a session has ended, and nothing typed is lost", async () => {
    const { page, watch } = await signInAtName();
    await attachAuthenticator(page);
    await openSessions(page);
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.getByText("The passkey was added.").waitFor();
    await go(page, "E-mails");
    await page.getByRole("searchbox").first().fill("typed");
    await page.context().clearCookies();
    watch.expect("401 /api/dashboard/emails");
    await page.getByRole("dialog").getByRole("button", passkeyButton).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.getByRole("searchbox").first().inputValue()).toBe("typed");
  });

  test("is suggested in the field for the address, once somebody is at the page", async () => {
    const { page, watch, email } = await signInAtName();
    await attachAuthenticator(page, { suggests: true });
    await openSessions(page);
    await page.getByRole("button", { name: "Add passkey" }).click();
    await page.getByText("The passkey was added.").waitFor();
    await page.context().clearCookies();
    await page.goto(named(urlOf("/")));
    const field = page.getByRole("textbox", { name: "E-mail address" });
    watch.expect("401 /api/dashboard/overview");
    await field.waitFor();
    expect(await field.getAttribute("autocomplete")).toBe("email webauthn");
    const asked: string[] = [];
    page.on("request", (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.reload();
    await field.waitFor();
    expect(asked).not.toContain("POST /api/dashboard/sign-in");
    await page.mouse.move(10, 10);
    await page.getByText(`Signed in as ${email} to Acme Passkeys.`).waitFor();
  });

  test("says so where a device has one of the user already, and where it has none", async () => {
    const { page, watch } = await signInAtName();
    // Where nothing can be suggested, that question waits until the button asks another one.
    const { session, authenticatorId } = await attachAuthenticator(page, { suggests: true });
    await openSessions(page);
    const add = page.getByRole("button", { name: "Add passkey" });
    await add.click();
    await page.getByText("The passkey was added.").waitFor();
    await add.click();
    await page.getByRole("alert").getByText("This device already has a passkey of yours.").waitFor();
    await session.send("WebAuthn.clearCredentials", { authenticatorId });
    watch.expect("401 /api/dashboard/sessions");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", passkeyButton).click();
    await page.getByRole("alert").getByText("The browser gave no passkey").waitFor();
    await page.getByRole("textbox", { name: "E-mail address" }).waitFor();
  });
});

test("at an IP address the page offers none, and leads to a name", async () => {
  const user = await createUser((await createOrganization()).id);
  const { page } = await visit();
  await page.goto(urlOf("/sign-in"));
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.goto(await linkFor(user));
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await go(page, "E-mails");
  await page.goto(urlOf("/settings/sessions"));
  await page.getByText("Passkeys do not work here.").waitFor();
  expect(await page.getByRole("button", { name: "Add passkey" }).count()).toBe(0);
  const link = page.getByRole("link", { name: "localhost" });
  expect(await link.getAttribute("href")).toBe(named(urlOf("/settings/sessions")));
});
