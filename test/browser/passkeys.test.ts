import type { CDPSession, Page, Route } from "playwright-core";
import { describe, expect, inject, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createOrganization } from "../service/organization.ts";
import { attachDevice } from "./authenticator.ts";
import { axe, problems } from "./axe.ts";
import { press } from "./keyboard.ts";
import {
  managers,
  unreadable,
  withEmptyUserHandle,
  withoutSignature,
  withoutUserHandle,
} from "./password-manager.ts";
import {
  createUser,
  go,
  isLoaded,
  linkFor,
  type User,
  urlOf,
  useBrowser,
  type Visit,
  visit,
} from "./visit.ts";

useBrowser();

/** Browsers have passkeys of names, and none of IP addresses. */
const named = (url: string): string => {
  const renamed = new URL(url);
  renamed.hostname = "localhost";
  return renamed.href;
};

/**
 * The device answers suggestions too, as if somebody had chosen its passkey among them: tests of the button
 * have a browser without these.
 */
const attachAuthenticator = async (
  page: Page,
  { suggests = false }: { suggests?: boolean } = {},
): Promise<{ session: CDPSession; authenticatorId: string }> => {
  if (!suggests)
    await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  return attachDevice(page);
};

const signInAtName = async (): Promise<Visit & User> => {
  const user = await createUser((await createOrganization({ name: "Acme Passkeys" })).id);
  const opened = await visit([axe], named(inject("apiUrl")));
  await opened.page.goto(named(await linkFor(user)));
  await opened.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await go(opened.page, "E-mails");
  return { ...opened, ...user };
};

const openSessions = async (page: Page): Promise<void> => {
  await page.goto(named(urlOf("/settings/sessions")));
  await page.getByRole("heading", { name: "Passkeys" }).waitFor();
  await isLoaded(page);
};
/** The challenge that an answer to it has signed. */
const challengeIn = (route: Route): string => {
  const { clientDataJSON } = route.request().postDataJSON().answer.response;
  return JSON.parse(Buffer.from(clientDataJSON, "base64url").toString()).challenge;
};

/** Moves the mouse until something has happened: a slow page may not listen yet. */
const moveUntil = async (
  page: Page,
  happens: Promise<unknown>,
  { x, y } = { x: 10, y: 10 },
): Promise<void> => {
  let isOver = false;
  const ends = happens.finally(() => {
    isOver = true;
  });
  for (let step = 0; !isOver; step += 1) {
    await page.mouse.move(x + 2 + (step % 2), y + 2);
    await Promise.race([ends, page.waitForTimeout(100)]);
  }
  await ends;
};

const passkeyButton = { name: "Sign in with a passkey" };

describe("a passkey", () => {
  test("is added, signs in and is removed, all by the keyboard", async () => {
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

    watch.expect(
      "401 /api/dashboard/emails",
      "401 /api/dashboard/sessions",
      "401 /api/dashboard/passkeys",
      "401 /api/dashboard/sign-in/passkeys/sessions",
    );
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

  test("is suggested in the field for the address when somebody arrives", async () => {
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
    expect(asked).not.toContain("POST /api/dashboard/sign-in/passkeys/options");
    await moveUntil(page, page.getByText(`Signed in as ${email} to Acme Passkeys.`).waitFor());
  });

  test("that a device has already, or has not, is told to the user", async () => {
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
    watch.expect("401 /api/dashboard/sessions", "401 /api/dashboard/passkeys");
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.getByRole("button", passkeyButton).click();
    await page.getByRole("alert").getByText("The browser gave no passkey").waitFor();
    await page.getByRole("textbox", { name: "E-mail address" }).waitFor();
  });
});

/** Somebody at the sessions, with a device, in a browser with an extension. */
const signInWith = async (extension: string) => {
  const opened = await signInAtName();
  const device = await attachAuthenticator(opened.page);
  await opened.page.addInitScript(extension);
  await openSessions(opened.page);
  return { ...opened, ...device };
};

const add = (page: Page): Promise<void> => page.getByRole("button", { name: "Add passkey" }).click();

const signOut = async ({ page, watch }: Visit): Promise<void> => {
  watch.expect(
    "401 /api/dashboard/sessions",
    "401 /api/dashboard/passkeys",
    "401 /api/dashboard/sign-in/passkeys/sessions",
  );
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.getByRole("button", passkeyButton).waitFor();
};

describe("a password manager", () => {
  test.each(Object.entries(managers))("%s adds a passkey and signs in", async (_, extension) => {
    const opened = await signInWith(extension);
    const { page, email } = opened;
    await add(page);
    await page.getByText("The passkey was added.").waitFor();
    await signOut(opened);
    await page.getByRole("button", passkeyButton).click();
    await page.getByText(`Signed in as ${email} to Acme Passkeys.`).waitFor();
  });

  test.each([
    [
      "leaves out whose it is",
      withoutUserHandle,
      "This passkey does not say whose it is: sign in another way",
    ],
    [
      "says it is nobody's",
      withEmptyUserHandle,
      "This passkey does not say whose it is: sign in another way",
    ],
    ["leaves out the signature", withoutSignature, "The passkey's answer is not valid here: start again"],
  ])("that %s is told so, beside the other ways in", async (_, extension, sentence) => {
    const opened = await signInWith(extension);
    const { page } = opened;
    await add(page);
    await page.getByText("The passkey was added.").waitFor();
    await signOut(opened);
    await page.getByRole("button", passkeyButton).click();
    await page.getByRole("alert").getByText(sentence).waitFor();
    await page.getByRole("textbox", { name: "E-mail address" }).waitFor();
  });

  test("that leaves out everything is told that nothing is stored", async () => {
    const { page, watch } = await signInWith(unreadable);
    watch.expect("401 /api/dashboard/passkeys");
    await add(page);
    await page
      .getByRole("alert")
      .getByText("Your device has made a passkey, but it is not stored here")
      .waitFor();
    await page.getByText("Add it again, or delete it on your device.").waitFor();
  });
});

describe("an unstored passkey", () => {
  const sentence = "Your device has made a passkey, but it is not stored here";

  test("without a network: the next press stores it", async () => {
    const { page, watch, session, authenticatorId } = await signInWith("");
    watch.expect("ERR_FAILED /api/dashboard/passkeys");
    await page.route("**/api/dashboard/passkeys", (route) =>
      route.request().method() === "POST" ? route.abort() : route.continue(),
    );
    await add(page);
    await page.getByRole("alert").getByText(sentence).waitFor();
    await page.unrouteAll();
    await add(page);
    await page.getByText("The passkey was added.").waitFor();
    const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
    expect(credentials).toHaveLength(1);
  });

  test("after its time keeps the session; another press adds one", async () => {
    const { page, watch } = await signInWith("");
    watch.expect("401 /api/dashboard/passkeys");
    await page.route("**/api/dashboard/passkeys", async (route) => {
      if (route.request().method() === "POST") await table.remove(keys.passkeyChallenge(challengeIn(route)));
      await route.continue();
    });
    await add(page);
    await page.getByRole("alert").getByText(sentence).waitFor();
    await page.getByRole("alert").getByText("used already or took too long").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.unrouteAll();
    await add(page);
    await page.getByText("The passkey was added.").waitFor();
  });
});

test("a user with ten is told before the device makes another", async () => {
  const { page, watch, session, authenticatorId, org, id } = await signInWith("");
  watch.expect("400 /api/dashboard/passkeys/options");
  const passkey = { publicKey: "", counter: 0, createdAt: new Date().toISOString() };
  const passkeys = Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [String(index).padStart(22, "A"), passkey]),
  );
  await table.update(keys.user(org, id), { set: { passkeys } });
  await add(page);
  await page.getByRole("alert").getByText("You already have 10 passkeys").waitFor();
  const { credentials } = await session.send("WebAuthn.getCredentials", { authenticatorId });
  expect(credentials).toEqual([]);
});

describe("before the device's question", () => {
  /** Notes presses, requests, and questions to the browser, in their order. */
  const noting = `
    globalThis.noted = [];
    addEventListener("click", () => noted.push("press"), true);
    const { fetch } = globalThis;
    globalThis.fetch = (...args) => (noted.push("request"), fetch(...args));
    for (const name of ["create", "get"]) {
      const ask = navigator.credentials[name].bind(navigator.credentials);
      navigator.credentials[name] = (options) => (noted.push("question"), ask(options));
    }`;
  const afterPress = async (page: Page): Promise<string[]> => {
    const noted = await page.evaluate<string[]>("noted");
    return noted.slice(noted.indexOf("press"), noted.indexOf("press") + 2);
  };
  /** Comes near the button, as people do before they press it. */
  const approach = async (page: Page, name: string): Promise<void> => {
    const answered = page.waitForResponse((response) => response.request().method() !== "GET");
    const box = await page.getByRole("button", { name }).boundingBox();
    await moveUntil(page, answered, box ?? undefined);
    await page.evaluate("noted.length = 0");
  };

  test("the page asks the service for nothing", async () => {
    const opened = await signInWith(noting);
    const { page, email } = opened;
    await approach(page, "Add passkey");
    await add(page);
    await page.getByText("The passkey was added.").waitFor();
    expect(await afterPress(page)).toEqual(["press", "question"]);
    await signOut(opened);
    await approach(page, passkeyButton.name);
    await page.getByRole("button", passkeyButton).click();
    await page.getByText(`Signed in as ${email}`).waitFor();
    expect(await afterPress(page)).toEqual(["press", "question"]);
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
